-- What attempts said of their targets becomes the state of the breakers: closed -> open after five failures in a row or ten of the
-- last twenty; half_open -> closed or open by the word of the probe alone. A target whose lock somebody holds keeps its calls.
-- The lock comes first and the row is read in a statement after it, hence in a new snapshot.
create function crontick.judge_targets(p_now timestamptz, p_bound int default 100) returns void
language plpgsql volatile
as $$
declare
    v_failures_in_a_row constant int := 5;
    v_failures_of_twenty constant int := 10;
    v_twenty constant int := (1 << 20) - 1;  -- the last outcomes, a bit each: 1 is a failure
    v_hold text;
    v_call crontick.target_calls;
    v_breaker crontick.breakers;
    v_before crontick.breakers;
    v_known boolean;
    v_said text;
begin
    for v_hold in select distinct c.hold from crontick.target_calls as c order by c.hold limit p_bound loop
        continue when not crontick.try_breaker(v_hold);
        select b.* into v_breaker from crontick.breakers as b where b.hold = v_hold;
        v_known := found;
        v_before := v_breaker;
        for v_call in
            with told as (delete from crontick.target_calls as c where c.hold = v_hold returning c.*)
            select told.* from told order by told.id
        loop
            continue when v_breaker.hold is null and v_call.verdict in ('ok', 'nothing');
            if v_breaker.hold is null then
                v_breaker := jsonb_populate_record(
                    null::crontick.breakers,
                    jsonb_build_object(
                        'hold', v_hold, 'target', v_call.target, 'kind', v_call.kind, 'state', 'closed', 'failures', 0,
                        'successes', 0, 'outcomes', 0, 'times_opened', 0, 'let_go', '{}', 'changed_at', p_now, 'by', 'crontick'
                    )
                );
            end if;
            v_said := format('%s in job %s', coalesce(v_call.status_code::text, 'no answer'), v_call.job);
            if v_breaker.state = 'half_open' and v_call.job = v_breaker.probe_job and v_call.claim = v_breaker.probe_claim then
                if v_call.verdict = 'ok' then
                    v_breaker := crontick.closes(v_breaker, p_now, 'crontick', format('its probe, job %s, was taken', v_call.job));
                    v_breaker.successes := 1;
                elsif v_call.verdict = 'failed' then
                    v_breaker := crontick.opens(v_breaker, p_now, 'its probe failed: ' || v_said);
                else
                    v_breaker.state := 'open';
                    v_breaker.probe_job := null;
                    v_breaker.probe_claim := null;
                    v_breaker.probe_until := null;
                    v_breaker.look_at := p_now;
                end if;
            elsif v_breaker.state = 'closed' then
                if v_call.verdict = 'failed' then
                    v_breaker.failures := v_breaker.failures + 1;
                    v_breaker.successes := 0;
                    v_breaker.outcomes := (v_breaker.outcomes << 1 | 1) & v_twenty;
                elsif v_call.verdict = 'ok' then
                    v_breaker.failures := 0;
                    v_breaker.successes := v_breaker.successes + 1;
                    v_breaker.outcomes := (v_breaker.outcomes << 1) & v_twenty;
                end if;
                if v_breaker.failures >= v_failures_in_a_row then
                    v_breaker := crontick.opens(v_breaker, p_now, v_breaker.failures || ' failures in a row, the last: ' || v_said);
                elsif bit_count(v_breaker.outcomes::bit(20)) >= v_failures_of_twenty then
                    v_breaker := crontick.opens(v_breaker, p_now, v_failures_of_twenty || ' failures in the last 20, the last: ' || v_said);
                elsif v_call.verdict = 'held' or v_breaker.let_go_at is not null or v_breaker.look_at <= p_now then
                    v_breaker.look_at := p_now;
                else
                    v_breaker.look_at := p_now + interval '1 day';
                end if;
            elsif v_breaker.state = 'open' and v_call.verdict = 'held' then
                v_breaker.look_at := v_breaker.retry_at;
            end if;
        end loop;
        perform crontick.keep_breaker(v_breaker, v_before, v_known);
    end loop;
end
$$;
