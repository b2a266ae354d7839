-- What has called ticks in the last two weeks: how often, how regularly, how long ago. The latest 20,000 are looked at.
-- A watcher comes when there is something to do, and keeps no row of its idle ticks; what ticks asked for (fan-out) is nobody's call.
with latest as (
    select coalesce(t.trigger, 'unknown') as trigger, t.started_at
    from crontick.ticks as t
    where t.started_at > crontick.now() - interval '14 days' and coalesce(t.trigger, '') not in ('fan-out', 'watch')
    order by t.started_at desc
    limit 20000
),

calls as (
    select
        l.trigger, l.started_at, l.started_at - lag(l.started_at) over (partition by l.trigger order by l.started_at) as gap
    from latest as l
)

select
    c.trigger,
    count(*) as ticks,
    percentile_cont(0.5) within group (order by c.gap) as usual_gap,
    max(c.gap) as longest_gap,
    max(c.started_at) - min(c.started_at) as watched,
    crontick.now() - max(c.started_at) as silent
from calls as c
group by c.trigger
order by c.trigger
