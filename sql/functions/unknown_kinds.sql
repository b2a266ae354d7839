-- Kinds that no deployment of the last day knew, and that jobs wait for: the first five, by a skip scan over what is held.
create function crontick.unknown_kinds(p_now timestamptz) returns text[]
language sql stable
as $$
    with recursive held as (
        (
            select j.kind
            from crontick.unfinished_jobs as j
            where j.held_by = 'kind' and j.held_by <> 'group'
            order by j.held_by, j.kind
            limit 1
        )
        union all
        select following.kind
        from held
        cross join lateral (
            select j.kind
            from crontick.unfinished_jobs as j
            where j.held_by = 'kind' and j.held_by <> 'group' and j.kind > held.kind
            order by j.held_by, j.kind
            limit 1
        ) as following
    )
    select array(
        select held.kind
        from held
        where not exists (
            select from crontick.kinds as k where k.name = held.kind and k.seen_at > p_now - interval '1 day'
        )
        limit 5
    )
$$;
