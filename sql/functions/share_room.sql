-- Of these jobs, in their order, those for which all of their lines have room (tokens and seats, by line; null: no end of it). held:
-- those of a line that has none, and by which. Neither: a line of theirs is not among p_holds, so nobody can tell yet.
create function crontick.share_room(
    p_ids bigint[], p_limits jsonb, p_holds text[], p_tokens int[], p_seats int[],
    out admitted bigint[], out held bigint[], out held_by text[], out drawn int[], out waits boolean[]
)
language plpgsql stable
as $$
declare
    v_job record;
    v_at int;
    v_full int;
    v_busy boolean;
    v_hold text;
begin
    admitted := '{}';
    held := '{}';
    held_by := '{}';
    drawn := array_fill(0, array[cardinality(p_holds)]);
    waits := array_fill(false, array[cardinality(p_holds)]);
    for v_job in
        select j.id, array(select l.hold from crontick.lines_of(p_limits, j.kind, j.queue, j.payload) as l) as holds
        from unnest(p_ids) with ordinality as wanted (id, nth)
        join crontick.unfinished_jobs as j on j.id = wanted.id
        order by wanted.nth
    loop
        v_full := null;
        v_busy := false;
        foreach v_hold in array v_job.holds loop
            v_at := array_position(p_holds, v_hold);
            if v_at is null then
                v_busy := true;
            elsif least(p_tokens[v_at], p_seats[v_at]) <= drawn[v_at] then
                v_full := v_at;
            end if;
        end loop;
        if v_full is not null then
            held := held || v_job.id;
            held_by := held_by || p_holds[v_full];
            waits[v_full] := true;
        elsif not v_busy then
            admitted := admitted || v_job.id;
            foreach v_hold in array v_job.holds loop
                v_at := array_position(p_holds, v_hold);
                drawn[v_at] := drawn[v_at] + 1;
            end loop;
        end if;
    end loop;
end
$$;
