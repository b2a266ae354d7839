-- A fresh copy of a dead job, with its payload or an edited one, or the first copy where there is one.
select r.requeued_as, r.before, r.status
from crontick.requeue_once(%(id)s, %(by)s, %(reason)s, %(payload)s::jsonb, %(run_at)s::timestamptz) as r
