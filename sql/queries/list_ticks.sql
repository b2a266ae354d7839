-- The last ticks, the latest first. One without an end runs, or died after its lease. Pages go on below the last id.
with last as (
    select t.started_at, t.id from crontick.ticks as t
    where t.id = %(below)s::bigint
)

select
    t.id, t.started_at, t.trigger,
    case
        when t.ended_at is not null then coalesce(t.stop_reason, 'empty')
        when t.lease_expires_at < crontick.now() then 'died'
        else 'runs'
    end as ended,
    t.ended_at - t.started_at as took, t.started_at - t.scheduled_for as late, t.claimed, t.succeeded, t.failed, t.dead, t.snoozed,
    t.cancelled, t.handed_back, t.duplicates, t.rescued, t.lost, t.reminders, t.version, t.host, t.host_request_id, t.token
from crontick.ticks as t
where
    (%(trigger)s::text is null or t.trigger = %(trigger)s::text)
    and (
        %(below)s::bigint is null
        or (t.started_at, t.id) < (select l.started_at, l.id from last as l)
    )
order by t.started_at desc, t.id desc
limit %(at_most)s
