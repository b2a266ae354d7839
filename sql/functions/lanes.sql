-- The lanes that have a due job, by a skip scan over (queue, priority): its cost is the number of lanes, not of rows.
-- A paused queue is dropped here, and no row of it is ever read. p_now 'infinity': the lanes of jobs to come as well.
create function crontick.lanes(p_now timestamptz, p_queues text[], p_paused text[]) returns setof crontick.lane
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
    select lane.queue, lane.priority, first.due_at
    from lane
    cross join lateral (
        select j.due_at
        from crontick.unfinished_jobs as j
        where j.queue = lane.queue and j.priority = lane.priority and j.due_at < 'infinity' and j.due_at <= p_now
            and j.status in ('queued', 'failed')
        order by j.due_at, j.id
        limit 1
    ) as first
    where (p_queues is null or lane.queue = any(p_queues)) and lane.queue <> all(p_paused)
    order by lane.priority desc, first.due_at
$$;
