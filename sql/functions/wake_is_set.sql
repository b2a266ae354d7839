-- Whether one of the last thousand ticks has set an alarm for then.
create function crontick.wake_is_set(p_wake_at timestamptz) returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
    select exists (
        select
        from (
            select t.wake_at
            from crontick.ticks as t
            order by t.started_at desc
            limit 1000
        ) as recent
        where recent.wake_at = p_wake_at
    )
$$;
