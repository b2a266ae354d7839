-- A failed or future job is due at once. Returns its status.
create function crontick.run_now(id bigint, by text, reason text default null) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_status text;
    v_now constant timestamptz := crontick.now();
begin
    perform crontick.check_actor(run_now.by, run_now.reason);
    update crontick.unfinished_jobs as j
    set
        run_at = least(j.run_at, v_now),
        due_at = case when j.held_by is null then least(j.run_at, v_now) else j.due_at end,
        updated_at = v_now
    where j.id = run_now.id and j.status in ('queued', 'failed')
    returning j.status into v_status;
    if found then
        perform crontick.note('run_now', 'job ' || run_now.id, run_now.id, run_now.by, run_now.reason, null);
        return v_status;
    end if;
    select j.status into v_status from crontick.jobs as j where j.id = run_now.id;
    if not found then
        perform crontick.missing_job(run_now.id);
    end if;
    return v_status;
end
$$;
