-- A fresh copy of a dead job (or of one that succeeded, and left a doubt: it has no resolution), lineage both ways.
-- It takes over a unique key that is still the old one's, else takes it for as long as the old one did. A key that another job
-- holds by now is left with it: the copy has none.
create function crontick.copy_job(
    p_dead crontick.finished_jobs, p_by text, p_reason text, p_payload jsonb, p_run_at timestamptz, p_resolution text
) returns bigint
language plpgsql volatile
as $$
declare
    v_id bigint;
    v_digest constant bytea := sha256(convert_to(p_dead.kind || chr(10) || p_dead.unique_key, 'UTF8'));
    v_own boolean;
    v_created boolean;
begin
    perform from crontick.unique_keys as k
    where k.digest = v_digest and k.job = p_dead.id and k.free_at > crontick.now()
    for update;
    v_own := found;
    if p_dead.unique_key is not null and not v_own then
        select put.id, put.created into v_id, v_created
        from crontick.insert_job(
            p_dead.kind, coalesce(p_payload, p_dead.payload), p_run_at, p_dead.queue, p_dead.priority, p_dead.max_attempts,
            p_dead.unique_key, coalesce(p_dead.unique_for, 'active'), p_dead.group_key, 'keep', null
        ) as put;
    end if;
    if v_created is not true then
        select put.id into v_id
        from crontick.insert_job(
            p_dead.kind, coalesce(p_payload, p_dead.payload), p_run_at, p_dead.queue, p_dead.priority, p_dead.max_attempts,
            null, 'active', p_dead.group_key, 'keep', null
        ) as put;
    end if;
    update crontick.unfinished_jobs as j
    set
        requeued_from = p_dead.id,
        first_job = coalesce(p_dead.first_job, p_dead.id),
        unique_key = case when v_own then p_dead.unique_key else j.unique_key end,
        unique_for = case when v_own then p_dead.unique_for else j.unique_for end
    where j.id = v_id;
    if v_own then
        update crontick.unique_keys as k set job = v_id where k.digest = v_digest;
    end if;
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
