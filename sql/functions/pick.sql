-- Lock up to p_want due jobs of these lanes and return their ids: by age alone, or by priority and then age; of a queue that p_seats
-- names never more than its free seats, over all its lanes.
-- Nothing is locked that is not returned (a lane's share is counted before its rows are locked), so that ticks at the same
-- moment do not leave each other empty-handed. What another transaction holds is skipped, never waited for (P2).
create function crontick.pick(
    p_lanes crontick.lane[], p_want int, p_by_age boolean, p_seen bigint[], p_kinds text[], p_now timestamptz, p_tick bigint,
    p_seats jsonb
) returns bigint[]
language plpgsql volatile
as $$
begin
    if cardinality(p_lanes) = 1 then
        return array(
            select j.id
            from crontick.unfinished_jobs as j
            where j.queue = p_lanes[1].queue and j.priority = p_lanes[1].priority
                and crontick.may_be_picked(j, p_now, p_tick, p_seen, p_kinds)
            order by j.due_at, j.id
            limit least(p_want, (p_seats ->> p_lanes[1].queue)::int)
            for update skip locked
        );
    end if;
    return array(
        select picked.id
        from (
            select front.queue, front.priority, count(*) as jobs
            from (
                select ranked.queue, ranked.priority
                from (
                    select
                        lane.queue, lane.priority, due.due_at, due.id,
                        row_number() over (
                            partition by lane.queue
                            order by case when p_by_age then 0 else -lane.priority end, due.due_at, due.id
                        ) as nth
                    from unnest(p_lanes) as lane
                    cross join lateral (
                        select j.due_at, j.id
                        from crontick.unfinished_jobs as j
                        where j.queue = lane.queue and j.priority = lane.priority
                            and crontick.may_be_picked(j, p_now, p_tick, p_seen, p_kinds)
                        order by j.due_at, j.id
                        limit p_want
                    ) as due
                ) as ranked
                where ranked.nth <= coalesce((p_seats ->> ranked.queue)::int, p_want)
                order by case when p_by_age then 0 else -ranked.priority end, ranked.due_at, ranked.id
                limit p_want
            ) as front
            group by front.queue, front.priority
        ) as share
        cross join lateral (
            select j.id
            from crontick.unfinished_jobs as j
            where j.queue = share.queue and j.priority = share.priority
                and crontick.may_be_picked(j, p_now, p_tick, p_seen, p_kinds)
            order by j.due_at, j.id
            limit share.jobs
            for update skip locked
        ) as picked
    );
end
$$;
