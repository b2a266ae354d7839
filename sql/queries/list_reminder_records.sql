-- What reminders recorded last.
select r.reminder, r.item, r.item_at, r.job, r.recorded_at
from crontick.reminder_records as r
where r.item_at < 'infinity' and r.item_at > '-infinity'
order by r.recorded_at desc
limit %(at_most)s
