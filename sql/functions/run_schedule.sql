-- Enqueue the job of a schedule now, beside its slots; its id. Who and why go to the audit.
create function crontick.run_schedule(name text, by text, reason text default null) returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_row crontick.declared_schedules;
    v_waits_for bigint;
    v_job bigint;
begin
    perform crontick.check_actor(run_schedule.by, run_schedule.reason);
    select * into v_row
    from crontick.declared_schedules as s
    where s.name = run_schedule.name and s.removed_at is null
    for update;
    if not found then
        perform crontick.missing_schedule(run_schedule.name);
    end if;
    if v_row.overlap = 'skip' then
        select min(j.id) into v_waits_for from crontick.unfinished_jobs as j where j.id = any(v_row.jobs);
        if v_waits_for is not null then
            raise exception 'job % of schedule % is still unfinished, and its overlap is skip', v_waits_for, v_row.name
                using errcode = 'CT409', hint = format('hurry it, `crontick run-now %1$s`, or `crontick cancel %1$s` first', v_waits_for);
        end if;
    end if;
    v_job := (
        crontick.insert_job(
            v_row.kind,
            v_row.payload || jsonb_build_object(
                '$schedule', jsonb_build_object('name', v_row.name, 'by', run_schedule.by)
            ),
            null, v_row.queue, v_row.priority, null, null, 'active', null, 'keep', null
        )
    ).id;
    update crontick.declared_schedules as s
    set
        jobs = array(select j.id from crontick.unfinished_jobs as j where j.id = any(s.jobs) order by j.id desc limit 200) || v_job,
        skips_in_a_row = 0
    where s.name = v_row.name;
    perform crontick.note('run', 'schedule ' || v_row.name, v_job, run_schedule.by, run_schedule.reason, null);
    return v_job;
end
$$;
