-- Due jobs of lines that have no room go out of the way of those behind them, p_bound rows at a look: else whoever has a thousand
-- jobs in front of everybody else's would keep the seats empty that his limit leaves free. As everywhere, only the tick that
-- has a line locked holds jobs by it.
create function crontick.hold_limited(p_lanes crontick.lane[], p_now timestamptz, p_limits jsonb, p_bound int default 500) returns int
language plpgsql volatile
as $$
declare
    v_ids bigint [];
    v_holds text [];
    v_closed text [];
    v_held int;
begin
    select array_agg(ahead.id), array_agg(ahead.hold)
    into v_ids, v_holds
    from (
        select due.id, l.hold
        from (
            select j.id, j.kind, j.queue, j.payload
            from unnest(p_lanes) as lane
            cross join lateral (
                select d.id, d.kind, d.queue, d.payload
                from crontick.unfinished_jobs as d
                where d.queue = lane.queue and d.priority = lane.priority and d.due_at < 'infinity' and d.due_at <= p_now
                    and d.status in ('queued', 'failed') and (d.group_digest is null or d.in_line)
                order by d.due_at, d.id
                limit p_bound
            ) as j
            limit p_bound
        ) as due
        cross join lateral crontick.lines_of(p_limits, due.kind, due.queue, due.payload) as l
    ) as ahead;
    v_closed := array(
        select l.hold
        from crontick.limit_lines as l
        where l.hold = any(v_holds) and l.look_at is not null and l.look_at > p_now
        order by l.hold
        for update skip locked
    );
    if cardinality(v_closed) = 0 then
        return 0;
    end if;
    v_closed := array(
        select l.hold from crontick.limit_lines as l where l.hold = any(v_closed) and l.look_at is not null and l.look_at > p_now
    );
    with closed as materialized (
        select ahead.id, min(ahead.hold) as hold
        from unnest(v_ids, v_holds) as ahead (id, hold)
        where ahead.hold = any(v_closed)
        group by ahead.id
    ),
    locked as materialized (
        select j.id
        from crontick.unfinished_jobs as j
        where j.id = any(array(select c.id from closed as c)) and j.status in ('queued', 'failed') and j.held_by is null
        order by j.id
        for update skip locked
    )
    update crontick.unfinished_jobs as j
    set held_by = c.hold, due_at = 'infinity', updated_at = p_now
    from closed as c
    where j.id = c.id and j.id = any(array(select l.id from locked as l)) and j.held_by is null;
    get diagnostics v_held = row_count;
    return v_held;
end
$$;
