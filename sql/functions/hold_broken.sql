-- Of jobs that may start otherwise, those that their targets' breakers let start; the others wait outside the due index, with the
-- attempts they have. open -> half_open: after its time the first by id is the probe, for as long as this claim's lease.
-- A suspect is not held: it waits as what it is.
create function crontick.hold_broken(
    p_ids bigint[], p_claim bigint, p_now timestamptz, p_lease_end timestamptz, p_breakers text[]
) returns bigint[]
language plpgsql volatile
as $$
declare
    v_hold text;
    v_breaker crontick.breakers;
    v_ids bigint [];
    v_broken bigint [] := '{}';
    v_unlocked text [] := '{}';
begin
    for v_hold, v_ids in
        select b.hold, array_agg(j.id order by j.id)
        from crontick.unfinished_jobs as j
        join crontick.breakers as b on b.hold = crontick.breaker_hold(crontick.target_of(j.kind, j.payload))
        where j.id = any(p_ids) and j.kind = any(p_breakers) and b.state <> 'closed'
        group by b.hold
        order by b.hold
    loop
        if crontick.try_breaker(v_hold) then
            select b.* into v_breaker from crontick.breakers as b where b.hold = v_hold;
            continue when v_breaker.state is null or v_breaker.state = 'closed';
            if v_breaker.state = 'open' and v_breaker.retry_at <= p_now then
                update crontick.breakers as b
                set
                    state = 'half_open', probe_job = v_ids[1], probe_claim = p_claim, probe_until = p_lease_end,
                    look_at = p_lease_end, changed_at = p_now
                where b.hold = v_hold;
                v_ids := v_ids[2:];
            elsif v_breaker.state = 'open' and v_breaker.look_at <> v_breaker.retry_at then
                update crontick.breakers as b set look_at = b.retry_at where b.hold = v_hold;
            end if;
        else
            v_unlocked := v_unlocked || v_hold;
        end if;
        v_broken := v_broken || v_ids;
    end loop;
    if cardinality(v_broken) = 0 then
        return p_ids;
    end if;
    with held as (
        update crontick.unfinished_jobs as j
        set held_by = crontick.breaker_hold(crontick.target_of(j.kind, j.payload)), due_at = 'infinity', updated_at = p_now
        where j.id = any(v_broken) and j.status in ('queued', 'failed') and j.held_by is null
        returning j.held_by, j.kind, j.payload
    )
    -- Who has the lock may be closing the breaker, and find none of these jobs before this transaction commits.
    insert into crontick.target_calls (hold, target, kind, verdict)
    select distinct on (held.held_by) held.held_by, crontick.target_of(held.kind, held.payload), held.kind, 'held'
    from held
    where held.held_by = any(v_unlocked)
    order by held.held_by;
    return array(select p.id from unnest(p_ids) as p (id) where p.id <> all(v_broken));
end
$$;
