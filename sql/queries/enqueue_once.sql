-- -> queued, once for each key; answers ids in the order of the jobs. A delay counts from the database's now.
select crontick.enqueue_once(%(key)s::bytea, %(body)s::bytea, crontick.timed(%(jobs)s::text::jsonb))::text as answer
