-- Unfinished jobs and dead letters by queue, kind, status and hold, and since when the oldest is due, in a bounded number of steps
-- whatever waits. What is in the due index is read lane by lane, what is due apart from what is to come; what is held by the first
-- letter of its hold, for letters have one order in every collation. No more than so many rows of each part are looked at: the rows
-- of one that has more say or_more, and of that part kinds that come last may be missing.
create function crontick.count_work(p_now timestamptz, p_look_at int) returns table (
    queue text, kind text, status text, held_by text, jobs bigint, or_more boolean, oldest_due_at timestamptz
)
language plpgsql stable
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
#variable_conflict use_column
declare
    v_lanes constant crontick.lane [] := array(
        -- Not crontick.lanes: a lane in which all run is one here.
        with recursive lane as (
            (
                select j.queue, j.priority
                from crontick.unfinished_jobs as j
                where j.due_at < 'infinity'
                order by j.queue, j.priority, j.due_at, j.id
                limit 1
            )
            union all
            select following.queue, following.priority
            from lane
            cross join lateral (
                select j.queue, j.priority
                from crontick.unfinished_jobs as j
                where j.due_at < 'infinity' and (j.queue, j.priority) > (lane.queue, lane.priority)
                order by j.queue, j.priority, j.due_at, j.id
                limit 1
            ) as following
        )
        select (lane.queue, lane.priority, null)::crontick.lane from lane
    );
    v_a_lane constant int := greatest(p_look_at / 2 / greatest(cardinality(v_lanes), 1), 100);
    v_a_hold constant int := greatest(p_look_at / 5, 100);
    v_dead constant int := greatest(p_look_at / 2, 100);
begin
    return query
    with part as (
        select own.*
        from unnest(v_lanes) as l
        cross join lateral (
            select
                j.queue, j.kind, j.status, null as held_by, count(*) as jobs, sum(count(*)) over () >= v_a_lane as or_more,
                min(j.run_at) filter (where j.status <> 'running') as oldest_due_at
            from (
                select u.queue, u.kind, u.status, u.run_at
                from crontick.unfinished_jobs as u
                where u.queue = l.queue and u.priority = l.priority and u.due_at < 'infinity' and u.due_at <= p_now
                order by u.queue, u.priority, u.due_at, u.id
                limit v_a_lane
            ) as j
            group by j.queue, j.kind, j.status
        ) as own
        union all
        select own.*
        from unnest(v_lanes) as l
        cross join lateral (
            select j.queue, j.kind, j.status, null, count(*), sum(count(*)) over () >= v_a_lane, null::timestamptz
            from (
                select u.queue, u.kind, u.status
                from crontick.unfinished_jobs as u
                where u.queue = l.queue and u.priority = l.priority and u.due_at < 'infinity' and u.due_at > p_now
                order by u.queue, u.priority, u.due_at, u.id
                limit v_a_lane
            ) as j
            group by j.queue, j.kind, j.status
        ) as own
        union all
        select own.*
        from unnest(array['b', 'e', 'k', 'l', 'p', 's'], array['c', 'f', 'l', 'm', 'q', 't']) as letter (first, after)
        cross join lateral (
            select
                j.queue, j.kind, j.status, hold.name, count(*), sum(count(*)) over () >= v_a_hold,
                min(j.run_at) filter (where j.status <> 'running' and j.run_at <= p_now)
            from (
                select u.queue, u.kind, u.status, u.held_by, u.run_at
                from crontick.unfinished_jobs as u
                where u.held_by <> 'group' and u.held_by >= letter.first and u.held_by < letter.after
                order by u.held_by, u.kind, u.id
                limit v_a_hold
            ) as j
            -- A limit is one hold, however many lines it has.
            cross join lateral (
                select case when left(j.held_by, 6) = 'limit:' then left(j.held_by, -33) else j.held_by end as name
            ) as hold
            group by j.queue, j.kind, j.status, hold.name
        ) as own
        union all
        select
            j.queue, j.kind, j.status, 'group', count(*), sum(count(*)) over () >= v_a_hold,
            min(j.run_at) filter (where j.run_at <= p_now)
        from (
            select u.queue, u.kind, u.status, u.run_at
            from crontick.unfinished_jobs as u
            where u.held_by = 'group'
            order by u.group_digest, u.id
            limit v_a_hold
        ) as j
        group by j.queue, j.kind, j.status
        union all
        select f.queue, f.kind, 'dead', null, count(*), sum(count(*)) over () >= v_dead, null
        from (
            select d.queue, d.kind
            from crontick.finished_jobs as d
            where d.status = 'dead' and d.resolution is null
            order by d.id desc
            limit v_dead
        ) as f
        group by f.queue, f.kind
    )

    select p.queue, p.kind, p.status, p.held_by, sum(p.jobs)::bigint, bool_or(p.or_more), min(p.oldest_due_at)
    from part as p
    group by p.queue, p.kind, p.status, p.held_by;
end
$$;
