-- Due jobs of lines that have no room go out of the way of those behind them, p_bound rows at a look: else whoever has a thousand
-- jobs in front of everybody else's would keep the seats empty that his limit leaves free.
create function crontick.hold_limited(p_lanes crontick.lane[], p_now timestamptz, p_limits jsonb, p_bound int default 500) returns int
language plpgsql volatile
as $$
declare
    v_ids bigint [];
    v_holds text [];
    v_held int;
begin
    v_ids := array(
        select j.id
        from unnest(p_lanes) as lane
        cross join lateral (
            select d.id
            from crontick.unfinished_jobs as d
            where d.queue = lane.queue and d.priority = lane.priority and d.due_at < 'infinity' and d.due_at <= p_now
                and d.status in ('queued', 'failed') and (d.group_digest is null or d.in_line)
            order by d.due_at, d.id
            limit p_bound
        ) as j
        limit p_bound
    );
    select array_agg(c.id), array_agg(c.hold) into v_ids, v_holds from crontick.closed_lines(v_ids, p_now, p_limits) as c;
    if v_ids is null then
        return 0;
    end if;
    with locked as materialized (
        select j.id
        from crontick.unfinished_jobs as j
        where j.id = any(v_ids) and j.status in ('queued', 'failed') and j.held_by is null
        order by j.id
        for update skip locked
    )
    update crontick.unfinished_jobs as j
    set held_by = c.hold, due_at = 'infinity', updated_at = p_now
    from unnest(v_ids, v_holds) as c (id, hold)
    where j.id = c.id and j.id = any(array(select l.id from locked as l)) and j.held_by is null;
    get diagnostics v_held = row_count;
    return v_held;
end
$$;
