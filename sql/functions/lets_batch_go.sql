-- What a breaker held goes back into the due index, a few at first, so that what just got well is not flooded. Those that stand in a
-- limit's line without room go into that line instead, and are none of the few: else the next few would be sent after them, and after
-- those the next, and each tick would find that another is to come at once.
create function crontick.lets_batch_go(p_breaker crontick.breakers, p_now timestamptz, p_limits jsonb) returns crontick.breakers
language plpgsql volatile
as $$
declare
    v_room constant int := least(greatest(5, 2 * p_breaker.successes), 500);
    v_lines constant boolean := p_limits is not null and exists (
        select from crontick.limit_lines as l where l.look_at is not null and l.look_at > p_now limit 1
    );
    v_front bigint [];
    v_lined bigint [] := '{}';
    v_holds text [];
begin
    v_front := array(
        select h.id
        from crontick.unfinished_jobs as h
        where h.held_by = p_breaker.hold and h.held_by <> 'group' and h.status in ('queued', 'failed')
        order by h.held_by, h.kind, h.id
        limit case when v_lines then 500 else v_room end
        for update skip locked
    );
    if v_lines and cardinality(v_front) > 0 then
        select coalesce(array_agg(c.id), '{}'), array_agg(c.hold)
        into v_lined, v_holds
        from crontick.closed_lines(v_front, p_now, p_limits) as c;
        update crontick.unfinished_jobs as j
        set held_by = line.hold, updated_at = p_now
        from unnest(v_lined, v_holds) as line (id, hold)
        where j.id = line.id;
    end if;
    p_breaker.let_go := (array(select f.id from unnest(v_front) with ordinality as f (id, nth) where f.id <> all(v_lined) order by f.nth))[:v_room];
    update crontick.unfinished_jobs as j set held_by = null, due_at = j.run_at where j.id = any(p_breaker.let_go);
    if cardinality(p_breaker.let_go) > 0 then
        p_breaker.let_go_at := p_now;
        p_breaker.look_at := p_now;
    elsif exists (select from crontick.unfinished_jobs as j where j.held_by = p_breaker.hold and j.held_by <> 'group') then
        -- Only the first were looked at; or somebody holds their rows.
        p_breaker.look_at := case when cardinality(v_lined) > 0 then p_now else p_now + interval '1 minute' end;
    else
        if p_breaker.let_go_at is null and p_breaker.changed_at <= p_now - interval '1 day' then
            p_breaker.times_opened := 0;  -- nothing was sent to it for a day: forget it
            p_breaker.outcomes := 0;
        end if;
        p_breaker.let_go_at := null;
        p_breaker.look_at := p_now + interval '1 day';
    end if;
    return p_breaker;
end
$$;
