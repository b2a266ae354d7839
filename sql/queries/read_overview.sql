-- Unfinished jobs and dead letters by queue and kind, and for how long the oldest is due; look_at is about how many are counted.
select
    w.queue, w.kind, w.status, w.held_by, w.jobs, w.or_more, crontick.now() - w.oldest_due_at as oldest_due
from crontick.count_work(crontick.now(), %(look_at)s) as w
order by w.queue, w.kind, w.status, w.held_by
