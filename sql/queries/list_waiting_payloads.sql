-- The payloads of the jobs that have not ended and do not run, in the order of their ids.
select j.kind, j.payload::text as payload
from crontick.unfinished_jobs as j
where j.status in ('queued', 'failed') and (%(kind)s::text is null or j.kind = %(kind)s::text)
order by j.id
