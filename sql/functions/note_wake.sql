-- The tick with this opening set an alarm for then.
create function crontick.note_wake(p_opening bigint, p_wake_at timestamptz) returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
    update crontick.ticks as t set wake_at = p_wake_at where t.opening = p_opening
$$;
