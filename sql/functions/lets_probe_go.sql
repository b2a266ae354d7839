-- One held job goes back into the due index, where whichever claim meets it makes it the probe. What expired meanwhile goes too,
-- for that claim to cancel.
create function crontick.lets_probe_go(p_breaker crontick.breakers, p_now timestamptz) returns crontick.breakers
language plpgsql volatile
as $$
declare
    v_expired bigint [];
begin
    v_expired := array(
        select h.id
        from (
            select j.id, j.expires_at
            from crontick.unfinished_jobs as j
            where j.held_by = p_breaker.hold and j.held_by <> 'group' and j.status in ('queued', 'failed')
            order by j.held_by, j.kind, j.id
            limit 1000
            for update skip locked
        ) as h
        where h.expires_at <= p_now
    );
    p_breaker.probe_job := (
        select h.id
        from crontick.unfinished_jobs as h
        where h.held_by = p_breaker.hold and h.held_by <> 'group' and h.status in ('queued', 'failed') and h.id <> all(v_expired)
        order by h.held_by, h.kind, h.id
        limit 1
        for update skip locked
    );
    update crontick.unfinished_jobs as j
    set held_by = null, due_at = j.run_at
    where j.id = any(v_expired || p_breaker.probe_job);
    if p_breaker.probe_job is not null then
        p_breaker.look_at := p_now;
    elsif exists (select from crontick.unfinished_jobs as j where j.held_by = p_breaker.hold and j.held_by <> 'group') then
        p_breaker.look_at := p_now + interval '1 minute';  -- somebody holds their rows
    elsif p_breaker.retry_at > p_now - interval '1 day' then
        p_breaker.look_at := p_now + interval '1 day';
    else
        p_breaker := crontick.closes(p_breaker, p_now, 'crontick', 'nothing has been sent to it for a day');
        p_breaker.times_opened := 0;
    end if;
    return p_breaker;
end
$$;
