-- Nobody may execute by default; each role that was made gets what its work needs (P33). Ticks run without DDL rights.
do $$
declare
    v_function regprocedure;
begin
    for v_function in
        select p.oid::regprocedure
        from pg_catalog.pg_proc as p
        where p.pronamespace = 'crontick'::regnamespace
    loop
        execute format('revoke all on function %s from public', v_function);
    end loop;
    if exists (select from pg_catalog.pg_roles where rolname = 'crontick_enqueue') then
        grant usage on schema crontick to crontick_enqueue;
        grant execute on function crontick.now, crontick.timed, crontick.enqueue, crontick.enqueue_many, crontick.complete to crontick_enqueue;
        grant select on crontick.test_clock to crontick_enqueue;
        grant select (name, secret) on crontick.kinds to crontick_enqueue;
    end if;
    if exists (select from pg_catalog.pg_roles where rolname = 'crontick_tick') then
        grant usage on schema crontick to crontick_tick;
        grant execute on function
            crontick.now, crontick.open_tick, crontick.place, crontick.claim, crontick.settle, crontick.close_tick, crontick.complete,
            crontick.timed, crontick.enqueue, crontick.enqueue_many, crontick.enqueue_once, crontick.sync_deployment, crontick.enqueue_reminders,
            crontick.reserve_marker, crontick.free_sealed, crontick.list_unsealed, crontick.seal_jobs, crontick.seal_endpoints,
            crontick.begin_report_part, crontick.append_report_part, crontick.fire_schedules, crontick.with_room,
            crontick.told_alerts, crontick.see_watcher, crontick.forget_watcher, crontick.note_wake, crontick.wake_is_set to crontick_tick;
        grant select on
            crontick.reminder_records, crontick.installation, crontick.test_clock, crontick.unfinished_jobs, crontick.pauses,
            crontick.report_runs, crontick.report_parts
            to crontick_tick;
        grant select (job, number, ended_at, outcome, fingerprint) on crontick.attempts to crontick_tick;
        grant select (name, url, secret, old_secret, old_secret_until) on crontick.webhook_endpoints to crontick_tick;
        grant select (name) on crontick.endpoints to crontick_tick;
    end if;
    if exists (select from pg_catalog.pg_roles where rolname = 'crontick_read') then
        grant usage on schema crontick to crontick_read;
        grant execute on function
            crontick.why, crontick.why_schedule, crontick.fingerprint_of, crontick.now, crontick.lanes,
            crontick.count_work, crontick.waiting_groups, crontick.told_hold, crontick.endpoint_of, crontick.did_you_mean
            to crontick_read;
        grant select on
            crontick.jobs, crontick.overview, crontick.dead_letters, crontick.doubts, crontick.blocked_groups, crontick.paused, crontick.limits, crontick.limit_lines,
            crontick.endpoints, crontick.audit, crontick.attempts, crontick.markers, crontick.ticks, crontick.kinds, crontick.deployments,
            crontick.installation, crontick.test_clock, crontick.report_runs, crontick.breakers, crontick.schedules, crontick.successes,
            crontick.alerts, crontick.alert_messages, crontick.alert_silences, crontick.watchers,
            crontick.unfinished_jobs, crontick.finished_jobs
            to crontick_read;
    end if;
    if exists (select from pg_catalog.pg_roles where rolname = 'crontick_admin') then
        grant usage on schema crontick to crontick_admin;
        grant execute on all functions in schema crontick to crontick_admin;
        grant select on all tables in schema crontick to crontick_admin;
        revoke select on crontick.webhook_endpoints from crontick_admin;
        -- All but the secrets. crontick_read has crontick.endpoints alone, which shows of a URL no more than its host.
        grant select (name, url, old_secret_until, created_at, updated_at) on crontick.webhook_endpoints to crontick_admin;
    end if;
end
$$;
