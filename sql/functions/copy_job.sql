-- A fresh copy of a dead job (or of one that succeeded, and left a doubt: it has no resolution), lineage both ways.
-- A unique key that another job holds by now is left with it: the copy has none.
create function crontick.copy_job(
    p_dead crontick.finished_jobs, p_by text, p_reason text, p_payload jsonb, p_run_at timestamptz, p_resolution text
) returns bigint
language plpgsql volatile
as $$
declare
    v_id bigint;
    v_created boolean := true;
begin
    if p_dead.unique_key is not null then
        select put.id, put.created into v_id, v_created
        from crontick.insert_job(
            p_dead.kind, coalesce(p_payload, p_dead.payload), p_run_at, p_dead.queue, p_dead.priority, p_dead.max_attempts,
            p_dead.unique_key, 'active', p_dead.group_key, 'keep', null
        ) as put;
    end if;
    if p_dead.unique_key is null or not v_created then
        select put.id into v_id
        from crontick.insert_job(
            p_dead.kind, coalesce(p_payload, p_dead.payload), p_run_at, p_dead.queue, p_dead.priority, p_dead.max_attempts,
            null, 'active', p_dead.group_key, 'keep', null
        ) as put;
    end if;
    update crontick.unfinished_jobs as j
    set requeued_from = p_dead.id, first_job = coalesce(p_dead.first_job, p_dead.id)
    where j.id = v_id;
    update crontick.finished_jobs as f
    set
        requeued_as = v_id,
        resolution = case when f.status = 'dead' then p_resolution end,
        resolved_at = case when f.status = 'dead' then crontick.now() end,
        resolved_by = case when f.status = 'dead' then p_by end,
        resolved_reason = case when f.status = 'dead' then p_reason end
    where f.id = p_dead.id;
    perform crontick.note(
        'requeue', 'job ' || p_dead.id, p_dead.id, p_by, p_reason,
        jsonb_build_object('copy', v_id, 'edited', p_payload is not null, 'resolution', p_resolution)
    );
    return v_id;
end
$$;
