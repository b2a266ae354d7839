-- A breaker as it is once its target is well: what it failed before is forgotten, but not how often it opened. Its held jobs go
-- back in batches, the first of them now.
create function crontick.closes(p_breaker crontick.breakers, p_now timestamptz, p_by text, p_reason text) returns crontick.breakers
language plpgsql volatile
as $$
begin
    p_breaker.state := 'closed';
    p_breaker.failures := 0;
    p_breaker.successes := 0;
    p_breaker.outcomes := 0;
    p_breaker.opened_at := null;
    p_breaker.retry_at := null;
    p_breaker.probe_job := null;
    p_breaker.probe_claim := null;
    p_breaker.probe_until := null;
    p_breaker.let_go := '{}';
    p_breaker.let_go_at := null;
    p_breaker.look_at := p_now;
    p_breaker.changed_at := p_now;
    p_breaker."by" := p_by;
    p_breaker.reason := p_reason;
    return p_breaker;
end
$$;
