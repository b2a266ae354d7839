-- Write a breaker down, as whoever has its target's lock changed it, and note in the audit what a person wants to know: that it
-- opened or closed. What has long been well and holds nothing goes.
create function crontick.keep_breaker(p_breaker crontick.breakers, p_before crontick.breakers, p_known boolean) returns void
language plpgsql volatile
as $$
begin
    if p_breaker.hold is null then
        return;
    end if;
    if p_breaker.state = 'closed' and p_breaker.outcomes = 0 and (p_breaker.times_opened = 0 or p_breaker.successes >= 20)
        and p_breaker.let_go_at is null
        and not exists (
            select
            from crontick.unfinished_jobs as j
            where j.held_by = p_breaker.hold and j.held_by <> 'group'
        )
    then
        delete from crontick.breakers as b where b.hold = p_breaker.hold;
    elsif p_known then
        update crontick.breakers as b
        set
            state = p_breaker.state, failures = p_breaker.failures, successes = p_breaker.successes,
            outcomes = p_breaker.outcomes, times_opened = p_breaker.times_opened, opened_at = p_breaker.opened_at,
            retry_at = p_breaker.retry_at, probe_job = p_breaker.probe_job, probe_claim = p_breaker.probe_claim,
            probe_until = p_breaker.probe_until, let_go = p_breaker.let_go, let_go_at = p_breaker.let_go_at,
            look_at = p_breaker.look_at, changed_at = p_breaker.changed_at, by = p_breaker."by", reason = p_breaker.reason
        where b.hold = p_breaker.hold;
    else
        insert into crontick.breakers select p_breaker.*;
    end if;
    if p_breaker."by" = 'crontick' and (p_breaker.state = 'closed') <> (coalesce(p_before.state, 'closed') = 'closed') then
        perform crontick.note(
            case p_breaker.state when 'closed' then 'close_breaker' else 'open_breaker' end, p_breaker.target, null, 'crontick',
            p_breaker.reason, null
        );
    end if;
end
$$;
