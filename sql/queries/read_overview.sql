-- Unfinished jobs and dead letters by queue and kind, and for how long the oldest is due; what is counted has a bound.
select
    w.queue, w.kind, w.status, w.held_by, w.jobs, w.or_more, crontick.now() - w.oldest_due_at as oldest_due
from crontick.count_work(crontick.now(), 10000) as w
order by w.queue, w.kind, w.status, w.held_by
