-- queued, failed -> running, under a new claim.
select
    c.id, c.kind, c.payload, c.attempt, c.max_attempts, c.handed_back, c.suspect, c.queue, c.priority, c.run_at, c.created_at,
    c.group_key, c.unique_key, c.first_job, c.marker, c.marker_state, c.marker_job, c.marker_seconds,
    c.marker_hash
from crontick.claim(
    %(opening)s, %(claim)s, %(seats)s, %(running)s, %(given)s, %(lease_seconds)s, %(known)s, %(kinds)s, %(queues)s, %(jobs)s,
    %(markers)s, %(suspects)s, %(repeat)s, %(limits)s, %(breakers)s, %(queue_seats)s
) as c
