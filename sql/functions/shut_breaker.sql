-- open, half_open -> closed, by a person. p_forget: a closed one's history goes too; with nothing held, the row goes. False: there was none.
create function crontick.shut_breaker(p_action text, p_target text, p_by text, p_reason text, p_forget boolean) returns boolean
language plpgsql volatile
as $$
declare
    v_target constant text := crontick.breaker_target(p_target);
    v_hold constant text := crontick.breaker_hold(v_target);
    v_breaker crontick.breakers;
begin
    perform crontick.check_actor(p_by, p_reason);
    perform pg_advisory_xact_lock(crontick.breaker_lock(v_hold));
    select b.* into v_breaker from crontick.breakers as b where b.hold = v_hold and (p_forget or b.state <> 'closed');
    if not found then
        return false;
    end if;
    v_breaker := crontick.closes(v_breaker, crontick.now(), p_by, p_reason);
    if p_forget then
        v_breaker.times_opened := 0;
    end if;
    perform crontick.keep_breaker(v_breaker, v_breaker, true);
    perform crontick.note(p_action, v_target, null, p_by, p_reason, null);
    return true;
end
$$;
