-- What is left to do, and, when nothing is, the end of the tick: fills in its row and reads when the next job is due.
-- Not closed while the claim before it took something or attempts run; nor, as long as the tick is willing to ask again, while
-- a group waits to be placed, a limit has room or will have within p_stay_seconds, the claim only cleared rows out of its way, or the
-- database has yet to be told of this deployment.
create function crontick.close_tick(
    p_opening bigint,
    p_claim bigint,
    p_running int,
    p_stop_reason text,
    p_ask_again boolean,
    p_parked int,
    p_known text[],
    p_kinds text[],
    p_queues text[],
    p_jobs bigint[],
    p_retention_seconds float8[],
    p_stay_seconds float8 default 0,
    p_alerts jsonb default null,
    p_fan_out jsonb default null
) returns table (
    closed boolean, more boolean, parked int, stop_reason text, cancels bigint[], next_due_at timestamptz,
    oldest_due_seconds float8, unknown_kinds text[], active_alerts text[], alert_messages text,
    asks int
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set enable_bitmapscan = off
as $$
#variable_conflict use_column
declare
    v_now timestamptz := crontick.now();
    v_tick bigint;
    v_lanes crontick.lane [];
    v_paused text [];
    v_claimed boolean;
    v_stranger boolean;
    v_deferred boolean;
    v_tell boolean;
begin
    select t.id, t.parked, t.deferred, t.ended_at is null and not exists (select from crontick.deployments as d where d.hash = t.deployment)
    into v_tick, parked, v_deferred, v_stranger
    from crontick.ticks as t
    where t.opening = p_opening;
    select true, c.more into v_claimed, more from crontick.claims as c where c.claim = p_claim;
    if more is null then
        v_paused := array(select p.name from crontick.pauses as p where p.what = 'queue');
        v_lanes := array(select l from crontick.lanes(v_now, p_queues, v_paused) as l);
        more := cardinality(v_lanes) > 0;
    end if;
    more := more and p_jobs is null;
    cancels := array(
        select r.job
        from crontick.cancel_requests as r
        cross join lateral (
            select
            from crontick.unfinished_jobs as j
            where j.id = r.job and j.claimed_by = v_tick and j.status = 'running'
            offset 0 -- looked up one by one: as in settle
        ) as running
    );
    closed := p_running = 0
        and v_claimed is null
        and not (
            p_ask_again
            and (
                v_stranger
                or (more and (parked > p_parked or v_deferred))
                or exists (
                    select
                    from crontick.limit_lines as l
                    where l.look_at is not null and l.look_at <= v_now + make_interval(secs => p_stay_seconds)
                    limit 1
                )
                or exists (select from crontick.group_calls as c order by c.group_digest limit 1)
            )
        );
    if closed then
        more := more or exists (
            select from crontick.limit_lines as l where l.look_at is not null and l.look_at <= v_now limit 1
        ) or exists (
            select
            from crontick.unfinished_jobs as j
            where j.held_by = 'suspect' and j.held_by <> 'group' and j.status <> 'running' and j.kind = any(p_known)
                and j.run_at <= v_now and j.claimed_by is distinct from v_tick and j.lone_rescues < 2
                and coalesce(crontick.broken_until(j.kind, j.payload) <= v_now, true)
                and (p_queues is null or j.queue = any(p_queues)) and j.queue <> all(v_paused)
                and not exists (
                    select
                    from crontick.pauses as p
                    where (p.what = 'kind' and p.name = j.kind) or (p.what = 'group' and p.name = j.group_key)
                )
        );
        more := more or coalesce(crontick.breakers_due(v_now, p_known) <= v_now, false);
        oldest_due_seconds := coalesce(
            (select extract(epoch from v_now - min(l.oldest_at)) from unnest(v_lanes) as l), 0
        );
        next_due_at := crontick.next_due(v_now, v_paused);
        unknown_kinds := crontick.unknown_kinds(v_now);
        update crontick.ticks as t
        set
            ended_at = coalesce(t.ended_at, v_now),
            stop_reason = coalesce(t.stop_reason, case when more then p_stop_reason else 'empty' end)
        where t.opening = p_opening
        returning t.stop_reason, t.claimed > 0 and t.trigger is distinct from 'watch' into stop_reason, v_tell;
        if v_tell then
            -- What it puts off, leaves over, or frees in a group has its time from here on; a watcher asks for that itself.
            perform crontick.tell_watchers();
        end if;
        select t.active, t.messages into active_alerts, alert_messages from crontick.tend_alerts(p_opening, v_now, p_alerts) as t;
        perform crontick.retain(p_opening, p_retention_seconds, v_now);
        update crontick.tick_slots as s set taken_until = '-infinity' where s.opening = p_opening and s.taken_until > v_now;
    end if;
    asks := case when p_fan_out is null then 0 else crontick.ask_ticks(p_opening, p_claim, more, p_queues, p_fan_out, v_now) end;
    return next;
end
$$;
