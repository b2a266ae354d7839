-- Groups of which some jobs wait for their first one, no more than so many, by a skip scan: its cost is the number of groups. Each
-- with since when it is waited for.
create function crontick.waiting_groups(p_at_most int) returns table (group_digest bytea, waiting_since timestamptz)
language sql stable
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
    with recursive waiting as (
        (
            select j.group_digest, j.created_at, 1 as nth
            from crontick.unfinished_jobs as j
            where j.held_by = 'group'
            order by j.group_digest, j.id
            limit 1
        )
        union all
        select following.group_digest, following.created_at, waiting.nth + 1
        from waiting
        cross join lateral (
            select j.group_digest, j.created_at
            from crontick.unfinished_jobs as j
            where j.held_by = 'group' and j.group_digest > waiting.group_digest
            order by j.group_digest, j.id
            limit 1
        ) as following
        where waiting.nth < p_at_most
    )
    select w.group_digest, w.created_at
    from waiting as w
    where exists (
        select from crontick.unfinished_jobs as h
        where h.group_digest = w.group_digest and h.in_line and h.held_by is distinct from 'group'
    )
$$;
