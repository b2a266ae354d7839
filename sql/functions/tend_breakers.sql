-- The breakers of these kinds whose time has come, a bounded number: a probe whose process died has failed; after its time an open
-- one lets one held job go, to be the probe; a closed one lets its held jobs go in batches, each when the one before has ended,
-- twice as many as have succeeded since. One whose kind has no breaker here any more is closed, whoever opened it.
create function crontick.tend_breakers(p_now timestamptz, p_known text[], p_breakers text[], p_bound int default 100, p_limits jsonb default null)
returns void
language plpgsql volatile
as $$
declare
    v_hold text;
    v_breaker crontick.breakers;
    v_before crontick.breakers;
begin
    if exists (select from crontick.target_calls) then
        perform crontick.judge_targets(p_now);
    end if;
    for v_hold in
        (
            select b.hold
            from crontick.breakers as b
            where b.look_at <= p_now and b.kind = any(p_known) and not crontick.breaker_waits(b, p_now)
            order by b.look_at, b.hold
            limit p_bound
        )
        union
        (
            select b.hold
            from crontick.breakers as b
            where b.state <> 'closed' and b.kind = any(p_known) and b.kind <> all(p_breakers)
            limit p_bound
        )
    loop
        continue when not crontick.try_breaker(v_hold);
        select b.* into v_breaker
        from crontick.breakers as b
        where b.hold = v_hold and (
            (b.look_at <= p_now and not crontick.breaker_waits(b, p_now))
            or (b.state <> 'closed' and b.kind <> all(p_breakers))
        );
        continue when not found;
        v_before := v_breaker;
        if v_breaker.state <> 'closed' and v_breaker.kind <> all(p_breakers) then
            v_breaker := crontick.closes(v_breaker, p_now, 'crontick', format('the kind %s has no breaker any more', v_breaker.kind));
        end if;
        if v_breaker.state = 'half_open' then
            v_breaker := crontick.opens(
                v_breaker, p_now, format('the process of its probe, job %s, died or froze', v_breaker.probe_job)
            );
        elsif v_breaker.state = 'open' then
            v_breaker := crontick.lets_probe_go(v_breaker, p_now);
        else
            v_breaker := crontick.lets_batch_go(v_breaker, p_now, p_limits);
        end if;
        perform crontick.keep_breaker(v_breaker, v_before, true);
    end loop;
end
$$;
