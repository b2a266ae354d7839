-- What each reminder did in the last day: sent, and skipped because a tick came too late. The latest 10,000 records are looked at.
with latest as (
    select r.reminder, r.job, r.recorded_at
    from crontick.reminder_records as r
    where r.recorded_at > crontick.now() - interval '1 day'
    order by r.recorded_at desc
    limit 10000
)

select
    l.reminder, count(l.job) as fired, count(*) - count(l.job) as skipped, max(l.recorded_at) as last_at,
    (select count(*) from latest) = 10000 as or_more
from latest as l
group by l.reminder
