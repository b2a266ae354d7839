-- How many jobs of each line run: those of live leases, and what this claim has taken so far (its row in claims comes last).
-- Counted, never kept: a killed tick's jobs stop counting when their lease ends (P27).
create function crontick.running_by_line(p_limits jsonb, p_now timestamptz, p_claim bigint, p_taken bigint[])
returns table (hold text, jobs int)
language sql stable
as $$
    select l.hold, count(*)::int
    from (
        select c.claim, job.id
        from crontick.claims as c
        cross join lateral unnest(c.job_ids) as job (id)
        where c.lease_expires_at > p_now
        union all
        select p_claim, mine.id
        from unnest(p_taken) as mine (id)
    ) as claimed
    join crontick.unfinished_jobs as j on j.id = claimed.id and j.claim = claimed.claim and j.status = 'running'
    cross join lateral crontick.lines_of(p_limits, j.kind, j.queue, j.payload) as l
    group by l.hold
$$;
