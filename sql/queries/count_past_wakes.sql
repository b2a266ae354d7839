-- Alarms that the last ticks set, and which should have gone off some minutes ago.
select count(distinct recent.wake_at) as armed
from (
    select t.wake_at
    from crontick.ticks as t
    order by t.started_at desc
    limit 1000
) as recent
where recent.wake_at < crontick.now() - interval '10 minutes'
