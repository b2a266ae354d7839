-- The next moment at which a tick has something to do: the least of due jobs, jobs to come and lease ends (P42). Null: never.
create function crontick.next_due(p_now timestamptz, p_paused text[]) returns timestamptz
language sql stable
as $$
    with recursive lane as (
        (
            select j.queue, j.priority
            from crontick.unfinished_jobs as j
            where j.due_at < 'infinity'
            order by j.queue, j.priority
            limit 1
        )
        union all
        select following.queue, following.priority
        from lane
        cross join lateral (
            select j.queue, j.priority
            from crontick.unfinished_jobs as j
            where j.due_at < 'infinity' and (j.queue, j.priority) > (lane.queue, lane.priority)
            order by j.queue, j.priority
            limit 1
        ) as following
    )
    select least(
        (
            select min(first.due_at)
            from lane
            cross join lateral (
                select j.due_at
                from crontick.unfinished_jobs as j
                where j.queue = lane.queue and j.priority = lane.priority and j.due_at < 'infinity'
                    and j.status in ('queued', 'failed')
                order by j.due_at, j.id
                limit 1
            ) as first
            where lane.queue <> all(p_paused)
        ),
        (select min(c.lease_expires_at) from crontick.claims as c),
        (
            select j.run_at
            from crontick.unfinished_jobs as j
            where j.held_by = 'suspect' and j.held_by <> 'group' and j.status <> 'running'
            order by j.held_by, j.kind, j.id
            limit 1
        )
    )
$$;
