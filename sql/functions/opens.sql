-- A breaker as it is once its target failed too often: open for a minute, twice as long each time it opens again, an hour at most.
-- Jitter only adds, so that the probes of many targets that fell together do not come back together.
create function crontick.opens(p_breaker crontick.breakers, p_now timestamptz, p_reason text) returns crontick.breakers
language plpgsql volatile
as $$
begin
    p_breaker.retry_at := p_now + make_interval(
        secs => least(60 * 2 ^ least(p_breaker.times_opened, 6), 3600) * (1 + random() / 10)
    );
    p_breaker.state := 'open';
    p_breaker.times_opened := p_breaker.times_opened + 1;
    p_breaker.opened_at := coalesce(p_breaker.opened_at, p_now);
    p_breaker.successes := 0;
    p_breaker.probe_job := null;
    p_breaker.probe_claim := null;
    p_breaker.probe_until := null;
    p_breaker.let_go := '{}';
    p_breaker.look_at := p_breaker.retry_at;
    p_breaker.changed_at := p_now;
    p_breaker."by" := 'crontick';
    p_breaker.reason := p_reason;
    return p_breaker;
end
$$;
