-- One job for each item that came due, once.
select r.reminder, r.fired, r.skipped, r.refused
from crontick.enqueue_reminders(%(opening)s, %(items)s) as r
