-- One held job goes back into the due index, where whichever claim meets it makes it the probe; no other goes as long as it is there.
create function crontick.lets_probe_go(p_breaker crontick.breakers, p_now timestamptz) returns crontick.breakers
language plpgsql volatile
as $$
begin
    if not exists (
        select
        from crontick.unfinished_jobs as j
        where j.id = p_breaker.probe_job and j.held_by is null and j.status in ('queued', 'failed') and j.due_at <= p_now
    ) then
        update crontick.unfinished_jobs as j
        set held_by = null, due_at = j.run_at
        where j.id = (
            select h.id
            from crontick.unfinished_jobs as h
            where h.held_by = p_breaker.hold and h.held_by <> 'group' and h.status in ('queued', 'failed')
            order by h.held_by, h.kind, h.id
            limit 1
            for update skip locked
        )
        returning j.id into p_breaker.probe_job;
    end if;
    if p_breaker.probe_job is not null then
        -- Where it is cancelled meanwhile, or its queue is paused, another one goes after a while.
        p_breaker.look_at := p_now + interval '5 minutes';
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
