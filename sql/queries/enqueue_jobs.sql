-- -> queued, up to 10,000 at once, in the caller's transaction. A delay counts from the database's now.
select m.nth, m.id
from crontick.enqueue_many(crontick.timed(%(jobs)s::text::jsonb)) as m
order by m.nth
