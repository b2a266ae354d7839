-- Retention: delete a bounded number of rows that are old. Never pending work, markers reserved or in doubt, or unresolved dead
-- letters, or reports whose run goes on (P28). p_seconds: how long succeeded and cancelled jobs, resolved dead ones, ticks and
-- reports are kept; older code says nothing of the last.
create function crontick.prune(p_seconds float8[], p_now timestamptz, p_bound int default 1000) returns int
language plpgsql volatile
set enable_bitmapscan = on
set enable_seqscan = on
as $$
declare
    v_succeeded constant timestamptz := p_now - make_interval(secs => p_seconds[1]);
    v_dead constant timestamptz := p_now - make_interval(secs => p_seconds[2]);
    v_ticks constant timestamptz := p_now - make_interval(secs => p_seconds[3]);
    v_reports constant timestamptz := p_now - make_interval(secs => coalesce(p_seconds[4], 604800));
    v_forever constant timestamptz := p_now - interval '400 days';
    v_runs bigint[];
    v_gone int;
    v_all int := 0;
begin
    delete from crontick.finished_jobs as f
    where f.id = any(
        array(
            select old.id
            from crontick.finished_jobs as old
            where old.finished_at < greatest(v_succeeded, v_dead)
                and (
                    (old.status <> 'dead' and old.finished_at < v_succeeded)
                    or (old.status = 'dead' and old.resolution is not null and old.finished_at < v_dead)
                )
            limit p_bound
            for update skip locked
        )
    );
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.attempts as a
    where a.ctid = any(array(select old.ctid from crontick.attempts as old where old.ended_at < v_forever limit p_bound));
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.ticks as t
    where t.id = any(
        array(
            select old.id from crontick.ticks as old where old.started_at < v_ticks order by old.started_at limit p_bound
        )
    );
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.unique_keys as k
    where k.digest = any(
        array(select old.digest from crontick.unique_keys as old where old.free_at < p_now limit p_bound for update skip locked)
    );
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.markers as m
    where m.ctid = any(
        array(
            select old.ctid
            from crontick.markers as old
            where old.state = 'sent' and old.settled_at < v_forever
            limit p_bound
            for update skip locked
        )
    );
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.reminder_records as r
    where r.ctid = any(
        array(
            select old.ctid
            from crontick.reminder_records as old
            where old.recorded_at < v_forever
            order by old.recorded_at
            limit p_bound
        )
    );
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    v_runs := array(
        select f.run
        from crontick.report_files as f
        where
            f.started_at < v_reports and coalesce(f.finished_at, f.progressed_at) < v_reports
            and not exists (select from crontick.report_runs as r where r.id = f.run and r.status = 'running')
        order by f.started_at
        limit p_bound
    );
    -- A part is megabytes where another row is bytes.
    delete from crontick.report_parts as p
    where p.ctid = any(
        array(
            select old.ctid
            from crontick.report_parts as old
            where old.run = any(v_runs)
            limit greatest(p_bound / 50, 1)
        )
    );
    get diagnostics v_gone = row_count;
    v_all := v_all + v_gone;
    delete from crontick.report_files as f
    where f.run = any(v_runs) and not exists (select from crontick.report_parts as p where p.run = f.run);
    get diagnostics v_gone = row_count;
    return v_all + v_gone;
end
$$;
