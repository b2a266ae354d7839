-- -> queued, up to 10,000 at once, in the caller's transaction.
select m.nth, m.id
from crontick.enqueue_many(%(jobs)s::jsonb) as m
order by m.nth
