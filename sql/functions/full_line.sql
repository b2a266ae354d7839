-- The line without room in which a job would stand if it were claimed now, by the limits of this deployment; null where it could go.
create function crontick.full_line(p_kind text, p_queue text, p_payload jsonb, p_now timestamptz, p_deployment text)
returns crontick.limit_lines
language plpgsql stable
as $$
declare
    v_limits constant jsonb := (select d.limits from crontick.deployments as d where d.hash = p_deployment);
    v_line crontick.limit_lines;
begin
    if v_limits is null then
        return null;
    end if;
    select line.* into v_line
    from crontick.lines_of(v_limits, p_kind, p_queue, p_payload) as l
    join crontick.limit_lines as line on line.hold = l.hold
    join crontick.room_in_lines(v_limits, array[l.hold], p_now, null, null) as room on room.tokens <= 0 or room.seats <= 0
    order by l.hold
    limit 1;
    return v_line;
end
$$;
