-- One true sentence: when a schedule is next, or what keeps it, and the mend.
create function crontick.why_schedule(name text) returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_now constant timestamptz := crontick.now();
    v_row crontick.declared_schedules;
    v_pause crontick.pauses;
    v_job bigint;
    v_next text;
    v_time constant text := 'YYYY-MM-DD HH24:MI:SS TZ';
begin
    select * into v_row from crontick.declared_schedules as s where s.name = why_schedule.name;
    if not found then
        return format('there is no schedule %s, and never was one', why_schedule.name);
    end if;
    if v_row.removed_at is not null then
        return format('stopped at %s: the deployment made known then does not declare it', to_char(v_row.removed_at, v_time));
    end if;
    select * into v_pause
    from crontick.pauses as p
    where p.what = 'all' or (p.what = 'schedule' and p.name = v_row.name) or (p.what = 'kind' and p.name = v_row.kind)
    order by p.what <> 'all', p.what <> 'schedule'
    limit 1;
    if found then
        return format(
            '%s is paused since %s by %s%s: `crontick resume %s`', concat_ws(' ', v_pause.what, nullif(v_pause.name, '')),
            to_char(v_pause.paused_at, v_time), v_pause."by", coalesce(' (' || v_pause.reason || ')', ''),
            concat_ws(' ', v_pause.what, nullif(v_pause.name, ''))
        );
    end if;
    if not exists (select from crontick.kinds as k where k.name = v_row.kind and k.seen_at > v_now - interval '1 day') then
        return format(
            'no deployment of the last day knows its kind %s: deploy code that has it (CRONTICK_MODULES), or mend the name', v_row.kind
        );
    end if;
    if v_row.error is not null then
        return format(
            '%s%s', v_row.error, coalesce('; its next slot is at ' || to_char(v_row.next_at, v_time), ': mend it and `crontick migrate`')
        );
    end if;
    v_next := case
        when v_row.next_at is null then 'is computed by the next tick'
        when v_row.next_at <= v_now then format('is due since %s: the next tick fires it', to_char(v_row.next_at, v_time))
        else 'is next at ' || to_char(v_row.next_at, v_time)
    end;
    select min(j.id) into v_job from crontick.unfinished_jobs as j where j.id = any(v_row.jobs);
    if v_row.skips_in_a_row > 0 and v_job is not null then
        return format(
            '%s; skipped %s in a row, for job %s is still unfinished: `crontick why %s`', v_next, v_row.skips_in_a_row, v_job, v_job
        );
    end if;
    return v_next;
end
$$;
