-- When the first breaker that holds jobs has to be looked at; null: none holds any, or only what a person opened.
create function crontick.breakers_due(p_now timestamptz) returns timestamptz
language sql stable
as $$
    select greatest(b.look_at, p_now)
    from crontick.breakers as b
    where b.look_at is not null
        and exists (select from crontick.unfinished_jobs as j where j.held_by = b.hold and j.held_by <> 'group')
    order by b.look_at
    limit 1
$$;
