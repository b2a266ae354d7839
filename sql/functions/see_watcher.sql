-- A watcher is here: says so in its row, and tells it when the next job is due. It also takes away the rows of idle ticks of
-- watchers, of which there may be one a second, but for the latest; never of one whose lease holds: it may be opened again.
create function crontick.see_watcher(
    p_watcher bigint, p_host text, p_process int, p_version text, p_every_seconds float8, p_listens boolean
) returns table (seen_at timestamptz, next_due_at timestamptz)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_real constant timestamptz := statement_timestamp();
begin
    insert into crontick.watchers (id, host, process, version, every, listens, started_at, seen_at)
    values (p_watcher, p_host, p_process, p_version, make_interval(secs => p_every_seconds), p_listens, v_real, v_real)
    on conflict (id) do update set seen_at = v_real, listens = p_listens;
    delete from crontick.watchers as w
    where w.id = any(
        array(select gone.id from crontick.watchers as gone where gone.seen_at < v_real - interval '1 day' for update skip locked)
    );
    delete from crontick.ticks as t
    where t.id = any(
        array(
            select idle.id
            from crontick.ticks as idle
            where idle.trigger = 'watch' and idle.started_at > v_now - interval '1 hour' and idle.lease_expires_at < v_now
                and idle.ended_at is not null and idle.claimed = 0 and idle.rescued = 0 and idle.scheduled = 0 and idle.reminders = 0
                and idle.started_at < (select max(latest.started_at) from crontick.ticks as latest where latest.trigger = 'watch')
            order by idle.started_at
            limit 1000
            for update skip locked
        )
    );
    seen_at := v_now;
    next_due_at := crontick.next_due(v_now, array(select p.name from crontick.pauses as p where p.what = 'queue'));
    return next;
end
$$;
