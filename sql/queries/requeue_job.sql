-- A fresh copy of a dead job, with its payload or an edited one; answers the copy's id.
select crontick.requeue(%(id)s, %(by)s, %(reason)s, %(payload)s::jsonb, %(run_at)s::timestamptz) as id
