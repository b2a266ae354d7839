-- Slots -> queued: the record of the slot and its jobs in one transaction, once whatever ticks overlap: a fire is computed from
-- the last slot that its tick's opening read, and is nothing where that is no longer the last one (compare and set). A row that
-- another transaction holds is another's to fire (P2). A repeat under the same opening answers what the first one did (P1).
create function crontick.fire_schedules(p_opening bigint, p_fires json)
returns table (schedule text, fired int, refused int, skips_in_a_row int, waits_for bigint, error text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_fire record;
    v_row crontick.declared_schedules;
    v_slot record;
    v_jobs bigint [];
    v_slots int;
    v_scheduled int := 0;
begin
    for v_fire in
        select *
        from json_to_recordset(p_fires) as f (
            name text, starts_at timestamptz, last_slot_at timestamptz, error text, slots json, passed int, slot_at timestamptz,
            slot_local text, slot_fold int, next_at timestamptz
        )
        order by f.name
    loop
        select * into v_row from crontick.declared_schedules as s where s.name = v_fire.name for update skip locked;
        continue when not found;
        schedule := v_row.name;
        if v_row.fired_by = p_opening then
            fired := (v_row.answer ->> 'fired')::int;
            refused := (v_row.answer ->> 'refused')::int;
            skips_in_a_row := (v_row.answer ->> 'skips_in_a_row')::int;
            waits_for := (v_row.answer ->> 'waits_for')::bigint;
            error := v_row.answer ->> 'error';
            return next;
            continue;
        end if;
        continue when v_row.removed_at is not null
            or v_row.starts_at is distinct from v_fire.starts_at
            or v_row.last_slot_at is distinct from v_fire.last_slot_at
            or exists (select from crontick.pauses as p where p.what = 'schedule' and p.name = v_row.name);

        fired := 0;
        refused := 0;
        error := v_fire.error;
        waits_for := null;
        v_jobs := '{}';
        v_slots := coalesce(json_array_length(v_fire.slots), 0);
        if v_slots > 0 then
            if v_row.overlap = 'skip' then
                select min(j.id) into waits_for from crontick.unfinished_jobs as j where j.id = any(v_row.jobs);
            end if;
            if waits_for is null then
                for v_slot in
                    select *
                    from json_to_recordset(v_fire.slots) as s (slot_at timestamptz, local text, missed int)
                    order by s.slot_at
                loop
                    begin
                        v_jobs := v_jobs || (
                            crontick.insert_job(
                                v_row.kind,
                                v_row.payload || jsonb_build_object('$schedule', jsonb_build_object(
                                    'name', v_row.name,
                                    'slot_at', to_char(v_slot.slot_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                                    'local', v_slot.local,
                                    'missed', v_slot.missed,
                                    'late_seconds', extract(epoch from v_now - v_slot.slot_at) - v_row.spread_seconds
                                )),
                                v_slot.slot_at + make_interval(secs => v_row.spread_seconds), v_row.queue, v_row.priority, null, null,
                                'active', null, 'keep', null
                            )
                        ).id;
                        fired := fired + 1;
                    exception when others then
                        if left(sqlstate, 2) in ('40', '53', '55', '57', '58') then
                            raise;  -- no fault of this job: the exchange is repeated, or the next tick fires it
                        end if;
                        -- Only crontick's own refusals are told: another's text may quote the row (P31).
                        refused := refused + 1;
                        error := 'its job was refused at enqueue: '
                            || case when left(sqlstate, 2) = 'CT' then sqlerrm else 'SQLSTATE ' || sqlstate end;
                    end;
                end loop;
            end if;
        end if;
        skips_in_a_row := case
            when waits_for is not null then v_row.skips_in_a_row + 1
            when fired > 0 then 0
            else v_row.skips_in_a_row
        end;
        update crontick.declared_schedules as s
        set
            last_slot_at = coalesce(v_fire.slot_at, s.last_slot_at),
            last_slot_local = coalesce(v_fire.slot_local, s.last_slot_local),
            last_slot_fold = coalesce(v_fire.slot_fold, s.last_slot_fold),
            next_at = v_fire.next_at,
            look_at = least(coalesce(v_fire.next_at, v_now + interval '1 hour'), v_now + interval '1 day'),
            jobs = case when fire_schedules.fired > 0 then v_jobs else s.jobs end,
            fired_at = case when fire_schedules.fired > 0 then v_now else s.fired_at end,
            fired = s.fired + fire_schedules.fired,
            missed = s.missed + coalesce(v_fire.passed, 0) - v_slots,
            skipped = s.skipped + case when waits_for is null then 0 else v_slots end,
            skips_in_a_row = fire_schedules.skips_in_a_row,
            skipped_slot_at = case when waits_for is null then s.skipped_slot_at else v_fire.slot_at end,
            error = fire_schedules.error,
            fired_by = p_opening,
            answer = jsonb_build_object(
                'fired', fire_schedules.fired, 'refused', fire_schedules.refused, 'waits_for', waits_for,
                'skips_in_a_row', fire_schedules.skips_in_a_row, 'error', fire_schedules.error
            )
        where s.name = v_row.name;
        v_scheduled := v_scheduled + fired;
        return next;
    end loop;

    perform crontick.reopen_tick(p_opening, v_now);
    update crontick.ticks as t set scheduled = t.scheduled + v_scheduled where t.opening = p_opening and v_scheduled > 0;
end
$$;
