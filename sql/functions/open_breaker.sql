-- Nothing is sent to that target until somebody closes its breaker: no probe tries it. Attempts that run go on; jobs that come due
-- wait with the attempts they have.
create function crontick.open_breaker(target text, by text, reason text default null) returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_target constant text := crontick.breaker_target(open_breaker.target);
    v_hold constant text := crontick.breaker_hold(v_target);
begin
    perform crontick.check_actor(open_breaker.by, open_breaker.reason);
    perform crontick.check_breaker(v_target);
    perform pg_advisory_xact_lock(crontick.breaker_lock(v_hold));
    update crontick.breakers as b
    set
        state = 'open', opened_at = coalesce(b.opened_at, v_now), retry_at = null, look_at = null, probe_job = null,
        probe_claim = null, probe_until = null, let_go = '{}', let_go_at = null, changed_at = v_now, by = open_breaker.by,
        reason = open_breaker.reason
    where b.hold = v_hold;
    if not found then
        insert into crontick.breakers (hold, target, kind, state, opened_at, changed_at, by, reason)
        values (
            v_hold, v_target,
            case when v_target like 'kind:%' then substr(v_target, 6) else 'deliver_webhook' end,
            'open', v_now, v_now, open_breaker.by, open_breaker.reason
        );
    end if;
    perform crontick.note('open_breaker', v_target, null, open_breaker.by, open_breaker.reason, null);
end
$$;
