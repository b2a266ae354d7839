-- A tick that its opening closed is open again, if there is room for it: it has found work that is no claim's.
create function crontick.reopen_tick(p_opening bigint, p_now timestamptz) returns void
language plpgsql volatile
as $$
begin
    update crontick.tick_slots as s
    set opening = p_opening, taken_until = (select t.lease_expires_at from crontick.ticks as t where t.opening = p_opening)
    where s.slot = (
        select free.slot
        from crontick.tick_slots as free
        where free.taken_until <= p_now and free.slot <= 100
        order by free.slot
        limit 1
        for update skip locked
    )
        and not exists (select from crontick.tick_slots as mine where mine.opening = p_opening and mine.taken_until > p_now);
    update crontick.ticks as t
    set ended_at = null, stop_reason = null
    where t.opening = p_opening and t.ended_at is not null
        and t.stop_reason is distinct from 'busy' and t.stop_reason is distinct from 'paused';
end
$$;
