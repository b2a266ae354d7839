-- Whether the jobs that a breaker let go are still to be tried: the probe, or the batch, for a minute at most.
create function crontick.breaker_waits(p_breaker crontick.breakers, p_now timestamptz) returns boolean
language sql stable
as $$
    select (
        p_breaker.state = 'open'
        and exists (
            select
            from crontick.unfinished_jobs as j
            where j.id = p_breaker.probe_job and j.held_by is null and j.due_at <= p_now
        )
    )
    or (
        p_breaker.let_go_at > p_now - interval '1 minute'
        and exists (
            select
            from crontick.unfinished_jobs as j
            where j.id = any(p_breaker.let_go) and j.held_by is null and j.due_at <= p_now
        )
    )
$$;
