-- The tick's own row, rescue, holds that heal: the first statement of a tick. Repeating it with the same number changes nothing.
-- ran is false where the tick must not claim: too many run already, or everything is paused.
create function crontick.open_tick(
    p_opening bigint,
    p_schema int,
    p_environment text,
    p_version text,
    p_deployment text,
    p_budget_seconds float8,
    p_lease_seconds float8,
    p_max_parallel int,
    p_paused boolean,
    p_known text[],
    p_trigger text,
    p_scheduled_for timestamptz,
    p_token text,
    p_host text,
    p_host_request_id text
) returns table (
    tick bigint, ran boolean, reason text, known_deployment boolean, rescued int, late_seconds float8, warnings text[],
    opened_at timestamptz, schedules text
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set enable_bitmapscan = off
as $$
declare
    v_now timestamptz := crontick.now();
    v_installation crontick.installation;
    v_slot int;
    v_paused boolean;
    v_schedules_due boolean;
begin
    select * into v_installation from crontick.installation;
    if not found then
        raise exception 'this database has no environment yet' using errcode = 'CT503', hint = 'run `crontick migrate`';
    end if;
    if v_installation.environment <> p_environment then
        raise exception 'this database belongs to the environment "%", not to "%"', v_installation.environment, p_environment
            using errcode = 'CT503', hint = 'set CRONTICK_ENVIRONMENT, or point this deployment at its own database';
    end if;
    if p_schema > v_installation.version then
        raise exception 'this code needs schema %, the database has %', p_schema, v_installation.version
            using errcode = 'CT503', hint = 'run `crontick migrate`';
    end if;
    if p_schema < v_installation.oldest_code then
        raise exception 'this code is for schema %, the database serves % and later', p_schema, v_installation.oldest_code
            using errcode = 'CT503', hint = 'deploy a newer crontick';
    end if;

    opened_at := v_now;
    warnings := '{}';
    late_seconds := extract(epoch from v_now - p_scheduled_for);
    select t.id, t.stop_reason is distinct from 'busy' and t.stop_reason is distinct from 'paused', t.stop_reason, t.rescued
    into tick, ran, reason, rescued
    from crontick.ticks as t
    where t.opening = p_opening;
    if not found then
        v_paused := p_paused or exists (select from crontick.pauses as p where p.what = 'all');
        if not v_paused then
            update crontick.tick_slots as s
            set opening = p_opening, taken_until = v_now + make_interval(secs => p_lease_seconds)
            where s.slot = (
                select free.slot
                from crontick.tick_slots as free
                where free.slot <= p_max_parallel and free.taken_until <= v_now
                order by free.slot
                limit 1
                for update skip locked
            )
            returning s.slot into v_slot;
        end if;
        ran := v_slot is not null;
        reason := case when v_paused then 'paused' when v_slot is null then 'busy' end;
        rescued := case when reason is distinct from 'busy' then crontick.rescue(v_now) else 0 end;
        if ran then
            perform crontick.free_holds(p_known);
        end if;
        insert into crontick.ticks (
            opening, started_at, deadline, lease_expires_at, ended_at, scheduled_for, trigger, token, stop_reason, version, host,
            host_request_id, deployment, rescued
        )
        values (
            p_opening, v_now, v_now + make_interval(secs => p_budget_seconds), v_now + make_interval(secs => p_lease_seconds),
            case when not ran then v_now end, p_scheduled_for, p_trigger, p_token, reason, p_version, p_host,
            p_host_request_id, p_deployment, rescued
        )
        returning id into tick;
    end if;

    update crontick.deployments as d
    set last_seen_at = v_now
    where d.hash = p_deployment and d.last_seen_at < v_now - interval '1 hour';
    if found then
        update crontick.kinds as k set seen_at = v_now where k.name = any(p_known);
    end if;
    known_deployment := exists (select from crontick.deployments as d where d.hash = p_deployment);
    v_schedules_due := exists (select from crontick.declared_schedules as s where s.look_at <= v_now and s.removed_at is null);
    if ran and v_schedules_due then
        schedules := crontick.due_schedules(v_now, p_known);
    end if;
    if v_schedules_due or exists (select from crontick.declared_schedules as s where s.error is not null and s.removed_at is null) then
        warnings := warnings || crontick.schedule_warnings(v_now, p_known);
    end if;
    if v_installation.schedules <> (select d.schedules from crontick.deployments as d where d.hash = p_deployment) then
        warnings := warnings || 'the schedules in force are those of another deployment: `crontick migrate` puts those of this one in force'::text;
    end if;
    if exists (select from crontick.test_clock) then
        warnings := warnings || 'the test clock is installed: times may be moved'::text;
    end if;
    return next;
end
$$;
