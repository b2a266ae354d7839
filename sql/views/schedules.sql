-- Schedules in force and those that stopped: when each is next, what became of its slots, and one sentence that says it.
create or replace view crontick.schedules as
select
    s.name, s.cron, s.tz, s.kind, s.payload, s.queue, s.priority, s.catch_up, s.at_most, s.late_seconds, s.overlap, s.spread_seconds,
    s.starts_at, s.last_slot_at, s.last_slot_local, s.last_slot_fold, s.next_at, s.jobs[cardinality(s.jobs)] as last_job, s.fired_at,
    s.fired, s.missed, s.skipped, s.skips_in_a_row, s.skipped_slot_at, p.paused_at, p.by as paused_by, p.reason as paused_because,
    s.error, s.deployment, s.synced_at, s.removed_at, crontick.why_schedule(s.name) as why
from crontick.declared_schedules as s
left join crontick.pauses as p on p.what = 'schedule' and s.name = p.name;
