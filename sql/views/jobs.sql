-- All jobs, unfinished and finished, as users read them.
create or replace view crontick.jobs as
select
    j.id, j.kind, j.queue, j.payload, j.status, j.priority, j.attempt, j.max_attempts, j.run_at, j.unique_key, j.group_key,
    j.claim, j.claimed_at, j.claimed_by, j.lease_expires_at, j.last_error, j.last_error_at, j.last_status_code,
    null::jsonb as result, j.progress_done, j.progress_total, j.expires_at, j.created_at, j.updated_at, j.started_at,
    null::timestamptz as finished_at, j.requeued_from, null::bigint as requeued_as, j.first_job, j.held_by,
    null::text as resolution, null::text as resolved_by, null::timestamptz as resolved_at, null::text as resolved_reason
from crontick.unfinished_jobs as j
union all
select
    f.id, f.kind, f.queue, f.payload, f.status, f.priority, f.attempt, f.max_attempts, f.run_at, f.unique_key, f.group_key,
    f.claim, f.claimed_at, f.claimed_by, null, f.last_error, f.last_error_at, f.last_status_code,
    f.result, f.progress_done, f.progress_total, f.expires_at, f.created_at, coalesce(f.resolved_at, f.finished_at), f.started_at,
    f.finished_at, f.requeued_from, f.requeued_as, f.first_job, null,
    f.resolution, f.resolved_by, f.resolved_at, f.resolved_reason
from crontick.finished_jobs as f;
