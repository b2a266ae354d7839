-- Retention: delete a bounded number of rows of each table that are old. Never pending work, markers reserved or in doubt,
-- unresolved dead letters, or reports whose run goes on (P28). p_seconds: how long succeeded and cancelled jobs, resolved dead
-- ones, ticks, reports and the audit are kept; older code says nothing of the last two. Each is found by an index, from its oldest on, and what
-- somebody holds is skipped. more: some table has others that are old.
create function crontick.prune(p_seconds float8[], p_now timestamptz, p_bound int default 1000, out gone int, out more boolean)
language plpgsql volatile
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set enable_bitmapscan = off
as $$
declare
    v_succeeded constant timestamptz := p_now - make_interval(secs => p_seconds[1]);
    v_dead constant timestamptz := p_now - make_interval(secs => p_seconds[2]);
    v_ticks constant timestamptz := p_now - make_interval(secs => p_seconds[3]);
    v_reports constant timestamptz := p_now - make_interval(secs => coalesce(p_seconds[4], 604800));
    v_audit constant timestamptz := p_now - make_interval(secs => coalesce(p_seconds[5], 34560000));
    v_forever constant timestamptz := p_now - interval '400 days';
    v_old tid [];
    v_runs bigint[];
    v_parts constant int := greatest(p_bound / 50, 1);  -- a part is megabytes where another row is bytes
    v_gone int;
    v_table text;
    v_which text;
    v_since text;
    v_before timestamptz;
begin
    -- The row of what one exchange settled goes after the last of its jobs.
    v_old := array(
        select old.ctid
        from (
            select s.ctid, sum(cardinality(s.job_ids)) over (order by s.ended_at, s.ctid) - cardinality(s.job_ids) as jobs_before
            from (select s.ctid, s.ended_at, s.job_ids from crontick.successes as s where s.ended_at < v_succeeded order by s.ended_at limit p_bound)
                as s
        ) as old
        where old.jobs_before < p_bound
    );
    delete from crontick.finished_jobs as f
    where f.id = any(
        array(
            select old.id
            from crontick.finished_jobs as old
            where old.status = 'succeeded'
                and old.id = any(array(select unnest(s.job_ids) from crontick.successes as s where s.ctid = any(v_old)))
            order by old.id
            limit p_bound
            for update skip locked
        )
    );
    get diagnostics gone = row_count;
    delete from crontick.successes as s
    where s.ctid = any(v_old)
        and not exists (select from crontick.finished_jobs as f where f.id = any(s.job_ids) and f.status = 'succeeded');
    get diagnostics v_gone = row_count;
    more := gone >= p_bound
        or (v_gone > 0 and exists (select from crontick.successes as s where s.ended_at < v_succeeded order by s.ended_at limit 1));
    -- A limit's line where nothing waits, and whose bucket is full, is as good as none.
    for v_table, v_which, v_since, v_before in
        values
        ('finished_jobs', $q$status = 'cancelled'$q$, 'finished_at', v_succeeded),
        ('finished_jobs', $q$status = 'dead' and resolution is not null$q$, 'finished_at', v_dead),
        ('attempts', 'true', 'ended_at', v_forever),
        ('ticks', 'true', 'started_at', v_ticks),
        ('unique_keys', $q$free_at < 'infinity'$q$, 'free_at', p_now),
        ('idempotency_keys', 'true', 'free_at', p_now),
        ('markers', $q$state = 'sent'$q$, 'settled_at', v_forever),
        ('reminder_records', 'true', 'recorded_at', v_forever),
        ('audit_log', 'true', 'at', v_audit),
        ('limit_lines', 'look_at is null', 'tat', p_now)
    loop
        execute format(
            'delete from crontick.%1$I where ctid = any(array('
            'select old.ctid from crontick.%1$I as old where %2$s and old.%3$I < $1 order by old.%3$I limit $2 for update skip locked))',
            v_table, v_which, v_since
        ) using v_before, p_bound;
        get diagnostics v_gone = row_count;
        gone := gone + v_gone;
        more := more or v_gone >= p_bound;
    end loop;
    v_runs := array(
        select f.run
        from crontick.report_files as f
        where
            f.started_at < v_reports and coalesce(f.finished_at, f.progressed_at) < v_reports
            and not exists (select from crontick.report_runs as r where r.id = f.run and r.status = 'running')
        order by f.started_at
        limit p_bound
        for update skip locked
    );
    delete from crontick.report_parts as p
    where p.ctid = any(array(select old.ctid from crontick.report_parts as old where old.run = any(v_runs) limit v_parts));
    get diagnostics v_gone = row_count;
    gone := gone + v_gone;
    more := more or v_gone >= v_parts;
    delete from crontick.report_files as f
    where f.run = any(v_runs) and not exists (select from crontick.report_parts as p where p.run = f.run);
    get diagnostics v_gone = row_count;
    gone := gone + v_gone;
    more := more or v_gone >= p_bound;
end
$$;
