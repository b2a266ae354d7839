-- Move due jobs to running, under one claim and its lease; return them. Never more than p_seats.
-- One seat in five, counted over the whole tick (p_given), goes to the oldest due job whatever its priority.
-- What it meets and cannot run is parked, and it looks again, within a bound. p_repeat: the answer to this very claim was lost.
create function crontick.claim(
    p_opening bigint,
    p_claim bigint,
    p_seats int,
    p_running int,
    p_given int,
    p_lease_seconds float8,
    p_known text[],
    p_kinds text[],
    p_queues text[],
    p_jobs bigint[],
    p_markers jsonb,
    p_suspects boolean,
    p_repeat boolean,
    p_limits jsonb default null,
    p_breakers text[] default null,
    p_queue_seats jsonb default null
) returns setof crontick.claimed_job
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
set enable_bitmapscan = off
set enable_indexscan = on
as $$
declare
    v_now timestamptz := crontick.now();
    v_tick bigint;
    v_lease_end timestamptz := v_now + make_interval(secs => p_lease_seconds);
    v_lanes crontick.lane [];
    v_paused_queues text [];
    v_paused_kinds text [];
    v_paused_groups bytea [];
    v_paused_endpoints text [];
    v_full_queues text [];
    v_seats jsonb := p_queue_seats;
    v_picked bigint [];
    v_all bigint [] := '{}';
    v_deferred bigint [] := '{}';
    v_left bigint [];
    v_parked int := 0;
    v_taken int := 0;
    v_row_count int;
    v_old int;
    v_want int;
    v_more boolean;
    v_breakers text [];
begin
    select t.id into v_tick from crontick.ticks as t where t.opening = p_opening and t.ended_at is null;
    if v_tick is null or p_seats < 1 then
        return;
    end if;
    if p_repeat then
        select c.job_ids into v_all from crontick.claims as c where c.claim = p_claim;
        if found then
            return query select * from crontick.taken(v_all, p_claim, v_now, coalesce(p_markers, '{}'));
            return;
        end if;
        v_all := '{}';
    end if;
    select
        coalesce(array_agg(p.name) filter (where p.what = 'queue'), '{}'),
        coalesce(array_agg(p.name) filter (where p.what = 'kind'), '{}'),
        coalesce(array_agg(sha256(convert_to(p.name, 'UTF8'))) filter (where p.what = 'group'), '{}'),
        coalesce(array_agg(p.name) filter (where p.what = 'endpoint'), '{}')
    into v_paused_queues, v_paused_kinds, v_paused_groups, v_paused_endpoints
    from crontick.pauses as p;
    perform crontick.free_limited(p_limits, v_now, p_seats);
    if p_breakers is not null then
        perform crontick.tend_breakers(v_now, p_known, p_breakers, p_limits => p_limits);
        v_breakers := case when exists (select from crontick.breakers as b where b.state <> 'closed') then p_breakers end;
    end if;

    for pass in 1..6 loop
        exit when v_taken >= p_seats;
        v_want := p_seats - v_taken;
        if p_jobs is not null then
            v_picked := array(
                select j.id
                from crontick.unfinished_jobs as j
                where j.id = any(p_jobs) and j.status in ('queued', 'failed') and j.held_by is null
                    and j.claimed_by is distinct from v_tick and j.id <> all(v_deferred)
                order by j.id
                limit v_want
                for update skip locked
            );
        else
            v_full_queues := array(select q.name from jsonb_each_text(v_seats) as q (name, seats) where q.seats::int <= 0);
            v_lanes := array(select l from crontick.lanes(v_now, p_queues, v_paused_queues || v_full_queues) as l);
            exit when cardinality(v_lanes) = 0;
            v_old := (p_given + p_seats) / 5 - (p_given + v_taken) / 5;
            if cardinality(v_lanes) > 1 and v_old > 0 and pass = 1 then
                v_picked := crontick.pick(v_lanes, v_old, true, v_deferred, p_kinds, v_now, v_tick, v_seats);
                v_picked := v_picked || crontick.pick(
                    v_lanes, v_want - cardinality(v_picked), false, v_picked || v_deferred, p_kinds, v_now, v_tick,
                    crontick.seats_left(v_seats, v_picked, null)
                );
            else
                v_picked := crontick.pick(v_lanes, v_want, false, v_deferred, p_kinds, v_now, v_tick, v_seats);
            end if;
        end if;
        exit when cardinality(v_picked) = 0;
        return query
        select *
        from crontick.take(
            v_picked, p_claim, v_tick, v_now, v_lease_end, p_known, v_paused_kinds, v_paused_groups, v_paused_endpoints, p_markers,
            p_limits, v_breakers, v_all
        );
        get diagnostics v_row_count = row_count;
        v_all := v_all || v_picked;
        v_taken := v_taken + v_row_count;
        if v_seats is not null then
            v_seats := crontick.seats_left(v_seats, v_picked, p_claim);
        end if;
        if v_row_count < cardinality(v_picked) then
            perform crontick.park(v_picked, v_now, p_known, v_paused_kinds, v_paused_groups, v_paused_endpoints);
            v_left := array(
                select j.id
                from crontick.unfinished_jobs as j
                where j.id = any(v_picked) and j.status in ('queued', 'failed') and j.held_by is null
            );
            v_deferred := v_deferred || v_left;
            v_parked := v_parked + cardinality(v_picked) - v_row_count - cardinality(v_left);
            if p_limits is not null and p_jobs is null then
                v_parked := v_parked + crontick.hold_limited(v_lanes, v_now, p_limits);
            end if;
        elsif cardinality(v_lanes) = 1 and v_seats is null then
            -- Looking behind the last one spares the close a walk over the rows that were just taken.
            v_more := cardinality(v_picked) = v_want and exists (
                select
                from crontick.unfinished_jobs as j
                where j.queue = v_lanes[1].queue and j.priority = v_lanes[1].priority
                    and j.due_at < 'infinity' and j.due_at <= v_now
                    and j.due_at >= (select p.due_at from crontick.unfinished_jobs as p where p.id = v_picked[v_want])
                    and j.status in ('queued', 'failed') and j.id <> all(v_picked)
                order by j.due_at, j.id
                limit 1
            );
            exit;
        end if;
    end loop;

    update crontick.ticks as t
    set parked = t.parked + v_parked, deferred = cardinality(v_deferred) > 0
    where t.id = v_tick and (v_parked > 0 or t.deferred <> (cardinality(v_deferred) > 0));

    -- Suspects live outside the due order: one, when nothing else was found and nothing else runs (P5).
    if v_taken = 0 and p_running = 0 and p_suspects then
        v_picked := array(
            select j.id
            from crontick.unfinished_jobs as j
            where j.held_by = 'suspect' and j.status in ('queued', 'failed') and j.run_at <= v_now
                and j.lone_rescues < 2 and j.claimed_by is distinct from v_tick
                and j.kind = any(coalesce(p_kinds, p_known)) and j.kind <> all(v_paused_kinds)
                and j.queue <> all(v_paused_queues)
                and (j.group_digest is null or j.group_digest <> all(v_paused_groups))
                and coalesce(crontick.endpoint_of(j.kind, j.payload) <> all(v_paused_endpoints), true)
                and (v_breakers is null or coalesce(crontick.broken_until(j.kind, j.payload) <= v_now, true))
                and (p_queues is null or j.queue = any(p_queues))
                and (p_jobs is null or j.id = any(p_jobs))
            order by j.held_by, j.kind, j.id
            limit 1
            for update skip locked
        );
        if cardinality(v_picked) > 0 then
            return query
            select *
            from crontick.take(
                v_picked, p_claim, v_tick, v_now, v_lease_end, p_known, v_paused_kinds, v_paused_groups, v_paused_endpoints,
                p_markers, p_limits, v_breakers, null
            );
            get diagnostics v_taken = row_count;
            v_all := v_picked;
            if v_taken = 0 then
                perform crontick.park(v_picked, v_now, p_known, v_paused_kinds, v_paused_groups, v_paused_endpoints);
            end if;
        end if;
    end if;

    if v_taken = 0 then
        return;
    end if;
    if p_running > 0 then
        update crontick.claims as c set alone = false where c.tick = v_tick and c.alone;
    end if;
    insert into crontick.claims (claim, tick, lease_expires_at, alone, more, job_ids)
    values (p_claim, v_tick, v_lease_end, v_taken = 1 and p_running = 0, nullif(v_more, false), v_all);
    update crontick.ticks as t set claimed = t.claimed + v_taken where t.id = v_tick;
    delete from crontick.unique_keys as k
    where k.job = any(v_all) and k.mode = 'waiting'
        and exists (select from crontick.unfinished_jobs as j where j.id = k.job and j.claim = p_claim and j.status = 'running');
end
$$;
