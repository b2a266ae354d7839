-- The lanes that have a due job, by a skip scan over (queue, priority): its cost is the number of lanes, not of rows.
-- A paused queue is dropped here, and no row of it is ever read. p_now 'infinity': the lanes of jobs to come as well.
-- The scan's own row is mostly the lane's oldest: only behind a running one is looked once more, for what was just settled lies
-- at the front until it is vacuumed, and each look walks over it.
create function crontick.lanes(p_now timestamptz, p_queues text[], p_paused text[]) returns setof crontick.lane
language sql stable
as $$
    with recursive lane as (
        (
            select j.queue, j.priority, j.due_at, j.status
            from crontick.unfinished_jobs as j
            where j.due_at < 'infinity'
            order by j.queue, j.priority, j.due_at, j.id
            limit 1
        )
        union all
        select following.queue, following.priority, following.due_at, following.status
        from lane
        cross join lateral (
            select j.queue, j.priority, j.due_at, j.status
            from crontick.unfinished_jobs as j
            where j.due_at < 'infinity' and (j.queue, j.priority) > (lane.queue, lane.priority)
            order by j.queue, j.priority, j.due_at, j.id
            limit 1
        ) as following
    )
    select lane.queue, lane.priority, first.due_at
    from lane
    cross join lateral (
        select lane.due_at where lane.status in ('queued', 'failed')
        union all
        (
            select j.due_at
            from crontick.unfinished_jobs as j
            where lane.status = 'running' and j.queue = lane.queue and j.priority = lane.priority
                and j.due_at < 'infinity' and j.due_at <= p_now
                and j.status in ('queued', 'failed')
            order by j.due_at, j.id
            limit 1
        )
    ) as first
    where first.due_at <= p_now
        and (p_queues is null or lane.queue = any(p_queues)) and lane.queue <> all(p_paused)
    order by lane.priority desc, first.due_at
$$;
