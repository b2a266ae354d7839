-- The ticks that were asked for in the last day, those that came, and those that found no room. One that was asked for a moment ago
-- may still come.
select
    coalesce(sum(t.asked) filter (where t.asked_at < crontick.now() - interval '1 minute'), 0) as asked,
    count(*) filter (where t.trigger = 'fan-out') as came,
    count(*) filter (where t.trigger = 'fan-out' and t.stop_reason = 'busy') as busy,
    coalesce(sum(t.asked) filter (where t.asked_at > crontick.now() - interval '1 hour'), 0) as asked_in_an_hour
from crontick.ticks as t
where t.started_at > crontick.now() - interval '1 day'
