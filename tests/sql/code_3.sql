-- What code of schema 3 says in a tick, word for word; each statement under its name.

-- name: sync_deployment
select crontick.sync_deployment(%(hash)s, %(version)s, %(kinds)s, %(strict)s) is null

-- name: open_tick
select o.tick, o.ran, o.reason, o.known_deployment, o.rescued, o.late_seconds, o.warnings, o.opened_at
from crontick.open_tick(
    %(opening)s, %(schema)s, %(environment)s, %(version)s, %(deployment)s, %(budget_seconds)s, %(lease_seconds)s,
    %(max_parallel)s, %(paused)s, %(known)s, %(trigger)s, %(scheduled_for)s, %(token)s, %(host)s, %(host_request_id)s
) as o

-- name: place_groups
select crontick.place() is null

-- name: claim_jobs
select
    c.id, c.kind, c.payload, c.attempt, c.max_attempts, c.handed_back, c.suspect, c.queue, c.priority, c.run_at, c.created_at,
    c.group_key, c.unique_key, c.first_job, c.marker, c.marker_state, c.marker_job, c.marker_seconds
from crontick.claim(
    %(opening)s, %(claim)s, %(seats)s, %(running)s, %(given)s, %(lease_seconds)s, %(known)s, %(kinds)s, %(queues)s, %(jobs)s,
    %(markers)s, %(suspects)s, %(repeat)s
) as c

-- name: settle_attempts
select s.lost, s.held, s.already, s.cancelled, s.completed
from crontick.settle(%(opening)s, %(ids)s, %(claims)s, %(endings)s, %(progress)s) as s

-- name: close_tick
select c.closed, c.more, c.parked, c.stop_reason, c.cancels, c.next_due_at, c.oldest_due_seconds
from crontick.close_tick(
    %(opening)s, %(claim)s, %(running)s, %(stop_reason)s, %(ask_again)s, %(parked)s, %(known)s, %(kinds)s, %(queues)s, %(jobs)s,
    %(retention_seconds)s
) as c
