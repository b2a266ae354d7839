-- What a breaker held goes back into the due index, a few at first, so that what just got well is not flooded.
create function crontick.lets_batch_go(p_breaker crontick.breakers, p_now timestamptz) returns crontick.breakers
language plpgsql volatile
as $$
declare
    v_room constant int := least(greatest(5, 2 * p_breaker.successes), 500);
begin
    p_breaker.let_go := array(
        select h.id
        from crontick.unfinished_jobs as h
        where h.held_by = p_breaker.hold and h.held_by <> 'group' and h.status in ('queued', 'failed')
        order by h.held_by, h.kind, h.id
        limit v_room
        for update skip locked
    );
    update crontick.unfinished_jobs as j set held_by = null, due_at = j.run_at where j.id = any(p_breaker.let_go);
    if cardinality(p_breaker.let_go) > 0 then
        p_breaker.let_go_at := p_now;
        p_breaker.look_at := p_now;
    elsif exists (select from crontick.unfinished_jobs as j where j.held_by = p_breaker.hold and j.held_by <> 'group') then
        p_breaker.look_at := p_now + interval '1 minute';  -- somebody holds their rows
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
