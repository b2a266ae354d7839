-- Of these jobs, those that stand in a line without room, and which line: it is locked now, for only the tick that has a line locked
-- holds jobs by it. One that another tick has locked is left to that one.
create function crontick.closed_lines(p_ids bigint[], p_now timestamptz, p_limits jsonb) returns table (id bigint, hold text)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
    v_ids bigint [];
    v_holds text [];
    v_closed text [];
begin
    select array_agg(j.id), array_agg(l.hold)
    into v_ids, v_holds
    from crontick.unfinished_jobs as j
    cross join lateral crontick.lines_of(p_limits, j.kind, j.queue, j.payload) as l
    where j.id = any(p_ids);
    v_closed := array(
        select l.hold
        from crontick.limit_lines as l
        where l.hold = any(v_holds) and l.look_at is not null and l.look_at > p_now
        order by l.hold
        for update skip locked
    );
    if cardinality(v_closed) = 0 then
        return;
    end if;
    -- A line is judged by a statement after the one that locks it, hence in a new snapshot.
    v_closed := array(
        select l.hold from crontick.limit_lines as l where l.hold = any(v_closed) and l.look_at is not null and l.look_at > p_now
    );
    return query
    select waiting.id, min(waiting.hold)
    from unnest(v_ids, v_holds) as waiting (id, hold)
    where waiting.hold = any(v_closed)
    group by waiting.id;
end
$$;
