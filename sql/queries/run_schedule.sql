-- Enqueue a schedule's job now; its id.
select crontick.run_schedule(%(name)s, %(by)s, %(reason)s) as job
