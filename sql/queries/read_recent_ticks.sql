-- What the ticks of the last time did together, and how each ended.
with recent as (
    select
        t.claimed, t.succeeded, t.failed, t.dead, t.snoozed, t.cancelled, t.handed_back, t.duplicates, t.rescued, t.lost,
        t.ended_at - t.started_at as took, t.started_at - t.scheduled_for as late,
        case
            when t.ended_at is not null then coalesce(t.stop_reason, 'empty')
            when t.lease_expires_at < crontick.now() then 'died'
            else 'runs'
        end as ended
    from crontick.ticks as t
    where t.started_at > crontick.now() - make_interval(secs => %(within_seconds)s)
    order by t.started_at desc
    limit %(at_most)s
)

select
    r.ended, count(*) as ticks, max(r.took) as longest, max(r.late) as latest, sum(r.claimed) as claimed,
    sum(r.succeeded) as succeeded, sum(r.failed) as failed, sum(r.dead) as dead, sum(r.snoozed) as snoozed,
    sum(r.cancelled) as cancelled, sum(r.handed_back) as handed_back, sum(r.duplicates) as duplicates,
    sum(r.rescued) as rescued, sum(r.lost) as lost
from recent as r
group by r.ended
order by r.ended
