-- Of these jobs, in their order, those that a tick would start now as far as limits go, for a dry run: it draws nothing. A tick goes
-- on as its attempts end, so that a place of a concurrency is enough for all who take it in turn.
create function crontick.with_room(p_ids bigint[], p_limits jsonb) returns bigint[]
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_holds constant text [] := array(
        select distinct l.hold
        from crontick.unfinished_jobs as j
        cross join lateral crontick.lines_of(p_limits, j.kind, j.queue, j.payload) as l
        where j.id = any(p_ids)
    );
    v_tokens int [];
    v_seats int [];
begin
    if cardinality(v_holds) = 0 then
        return p_ids;
    end if;
    select array_agg(r.tokens), array_agg(case when r.seats = 0 then 0 end)
    into v_tokens, v_seats
    from crontick.room_in_lines(p_limits, v_holds, crontick.now(), null, null) as r;
    return (select s.admitted from crontick.share_room(p_ids, p_limits, v_holds, v_tokens, v_seats) as s);
end
$$;
