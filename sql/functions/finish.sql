-- queued, failed -> cancelled or dead, without an attempt: by somebody, because it expired, or because its process kept dying.
-- The rows are locked by the caller. Frees the active key and calls the group in the same transaction (P3).
create function crontick.finish(p_ids bigint[], p_status text, p_error text, p_now timestamptz) returns void
language plpgsql volatile
as $$
begin
    with ended as (
        delete from crontick.unfinished_jobs as j
        where j.id = any(p_ids)
        returning j.*
    ),
    kept as (
        insert into crontick.finished_jobs (
            id, claim, claimed_by, first_job, requeued_from, run_at, created_at, started_at, claimed_at, finished_at, expires_at,
            last_error_at, priority, attempt, max_attempts, last_status_code, progress_done, progress_total, kind, queue, status,
            group_key, unique_key, unique_for, last_error, payload
        )
        select
            e.id, e.claim, e.claimed_by, e.first_job, e.requeued_from, e.run_at, e.created_at, e.started_at, e.claimed_at, p_now,
            e.expires_at, p_now, e.priority, e.attempt, e.max_attempts, e.last_status_code, e.progress_done, e.progress_total,
            e.kind, e.queue, p_status, e.group_key, e.unique_key, e.unique_for, coalesce(p_error, e.last_error), e.payload
        from ended as e
    )
    insert into crontick.group_calls (group_digest)
    select distinct e.group_digest from ended as e where e.group_digest is not null and e.in_line;

    delete from crontick.unique_keys as k where k.job = any(p_ids) and k.mode = 'active';
    delete from crontick.unique_keys as k where k.job = any(p_ids) and k.mode = 'waiting';
    delete from crontick.cancel_requests as r where r.job = any(p_ids);
end
$$;
