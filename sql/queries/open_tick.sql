-- The first statement of a tick: its row, rescue, and whether it may claim.
select o.tick, o.ran, o.reason, o.known_deployment, o.rescued, o.late_seconds, o.warnings, o.opened_at, o.schedules
from crontick.open_tick(
    %(opening)s, %(schema)s, %(environment)s, %(version)s, %(deployment)s, %(budget_seconds)s, %(lease_seconds)s,
    %(max_parallel)s, %(paused)s, %(known)s, %(trigger)s, %(scheduled_for)s, %(token)s, %(host)s, %(host_request_id)s
) as o
