-- Schedules in force, by name; their next slots are computed from the last one.
select
    s.name, s.cron, s.tz, s.kind, s.catch_up, s.at_most, s.late_seconds, s.spread_seconds, s.starts_at, s.last_slot_at,
    s.last_slot_local, s.last_slot_fold, s.last_job, s.fired, s.missed, s.skipped, s.paused_at, s.why, crontick.now() as now
from crontick.schedules as s
where s.removed_at is null
order by s.name
