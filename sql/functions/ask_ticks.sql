-- How many ticks this one may ask its platform for: once, two at most, as many as what is due beyond its own share fills, while parallel
-- ticks have room and the hour has some left (P42). Counted from the rows of ticks, so that no killed tick leaves a wrong number.
-- One tick at a time, by a try-lock that nobody waits for (P2); whoever does not get it asks at its next exchange. p_more: jobs are due.
create function crontick.ask_ticks(
    p_opening bigint, p_claim bigint, p_more boolean, p_queues text[], p_fan_out jsonb, p_now timestamptz
) returns int
language plpgsql volatile
as $$
declare
    v_tick crontick.ticks;
    v_limit constant int := least((p_fan_out ->> 'limit')::int, 1000);
    v_max_parallel constant int := (p_fan_out ->> 'max_parallel')::int;
    v_lanes crontick.lane [];
    v_paused_queues text [];
    v_kinds text [];
    v_share int;
    v_due int;
    v_room int;
begin
    select * into v_tick from crontick.ticks as t where t.opening = p_opening;
    if v_tick.asked > 0 then
        -- The answer to this very trip was lost, and nobody was asked yet (P1).
        return case when v_tick.asked_claim = p_claim then v_tick.asked else 0 end;
    end if;
    if not p_more or v_tick.stop_reason in ('busy', 'paused') then
        return 0;
    end if;
    v_share := greatest(least((p_fan_out ->> 'limit')::int - v_tick.claimed, (p_fan_out ->> 'in_time')::int, 1000), 0);
    v_paused_queues := array(select p.name from crontick.pauses as p where p.what = 'queue');
    v_kinds := array(
        select k.name
        from jsonb_array_elements_text(p_fan_out -> 'kinds') as k (name)
        where not exists (select from crontick.pauses as p where p.what = 'kind' and p.name = k.name)
    );
    v_lanes := array(select l from crontick.lanes(p_now, p_queues, v_paused_queues) as l);
    select count(*)
    into v_due
    from (
        select 1
        from unnest(v_lanes) as lane
        cross join lateral (
            select
            from crontick.unfinished_jobs as j
            where j.queue = lane.queue and j.priority = lane.priority and j.due_at < 'infinity' and j.due_at <= p_now
                and j.status in ('queued', 'failed') and j.kind = any(v_kinds)
            limit v_share + v_limit + 1
        ) as due
        limit v_share + v_limit + 1
    ) as due;
    if v_due <= v_share or not pg_try_advisory_xact_lock('crontick.tick_slots'::regclass::oid::int, 1) then
        return 0;
    end if;
    -- Room that others asked for a moment ago, and whose ticks have not come yet, is theirs.
    v_room := (
        select count(*) from crontick.tick_slots as s
        where s.slot <= v_max_parallel and s.taken_until <= p_now
    ) - greatest(
        (select coalesce(sum(t.asked), 0) from crontick.ticks as t where t.asked_at > p_now - interval '15 seconds')
        - (
            select count(*) from crontick.ticks as t
            where t.started_at > p_now - interval '15 seconds' and t.trigger = 'fan-out'
        ),
        0
    );
    v_room := least(
        v_room,
        (p_fan_out ->> 'max_per_hour')::int - (
            select coalesce(sum(t.asked), 0) from crontick.ticks as t
            where t.asked_at > p_now - interval '1 hour'
        ),
        case when v_due > v_share + v_limit then 2 else 1 end
    );
    if v_room <= 0 then
        return 0;
    end if;
    update crontick.ticks as t set asked = v_room, asked_at = p_now, asked_claim = p_claim where t.id = v_tick.id;
    return v_room;
end
$$;
