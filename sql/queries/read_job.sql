-- One job with all that a person may want to know. Payload and result as text: what JSON can hold, a driver may not read.
select
    j.id, j.kind, j.queue, j.status, crontick.told_hold(j.held_by) as held_by, crontick.why(j.id) as why, j.priority, j.attempt, j.max_attempts, j.run_at,
    j.created_at, j.started_at, j.finished_at, j.expires_at, j.claimed_at, j.claimed_by, j.lease_expires_at, j.group_key,
    j.unique_key, j.progress_done, j.progress_total, j.last_status_code, j.last_error_at, j.last_error, j.first_job, j.requeued_from,
    j.requeued_as, j.resolution, j.resolved_by, j.resolved_at, j.resolved_reason, j.payload::text as payload, j.result::text as result,
    coalesce(
        (
            select k.secret from crontick.kinds as k
            where k.name = j.kind
        ), '{}'
    ) as secret
from crontick.jobs as j
where j.id = %(id)s
