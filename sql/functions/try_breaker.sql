-- Take a target's lock until the end of this transaction, where nobody has it or its breaker's row: a tick waits for neither (P2).
create function crontick.try_breaker(p_hold text) returns boolean
language plpgsql volatile
as $$
begin
    if not pg_try_advisory_xact_lock(crontick.breaker_lock(p_hold)) then
        return false;
    end if;
    perform from crontick.breakers as b where b.hold = p_hold for update skip locked;
    return found or not exists (select from crontick.breakers as b where b.hold = p_hold);
end
$$;
