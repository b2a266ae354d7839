-- queued, failed -> cancelled; a running job is asked to stop (its row is not touched, so that no tick waits). Returns its status.
create function crontick.cancel(id bigint, by text, reason text default null) returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_status text;
    v_now constant timestamptz := crontick.now();
begin
    perform crontick.check_actor(cancel.by, cancel.reason);
    select j.status into v_status
    from crontick.unfinished_jobs as j
    where j.id = cancel.id and j.status in ('queued', 'failed')
    for update;
    if found then
        perform crontick.finish(array[cancel.id], 'cancelled', 'cancelled by ' || cancel.by || coalesce(': ' || cancel.reason, ''), v_now);
        perform crontick.note('cancel', 'job ' || cancel.id, cancel.id, cancel.by, cancel.reason, null);
        return 'cancelled';
    end if;
    select j.status into v_status from crontick.unfinished_jobs as j where j.id = cancel.id;
    if found then
        insert into crontick.cancel_requests (job, requested_at, by, reason)
        values (cancel.id, v_now, cancel.by, cancel.reason)
        on conflict do nothing;
        perform crontick.note('cancel', 'job ' || cancel.id, cancel.id, cancel.by, cancel.reason, null);
        return v_status;
    end if;
    select f.status into v_status from crontick.finished_jobs as f where f.id = cancel.id;
    if not found then
        perform crontick.missing_job(cancel.id);
    end if;
    return v_status;
end
$$;
