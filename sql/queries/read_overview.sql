-- Unfinished jobs and dead letters by queue and kind, and for how long the oldest is due.
select
    o.queue, o.kind, o.status, o.held_by, o.jobs, crontick.now() - o.oldest_due_at as oldest_due
from crontick.overview as o
order by o.queue, o.kind, o.status, o.held_by
