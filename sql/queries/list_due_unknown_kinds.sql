-- Kinds of due jobs that a deployment does not know.
select distinct j.kind
from crontick.unfinished_jobs as j
where j.status in ('queued', 'failed') and j.run_at <= crontick.now() and j.kind <> all(%(known)s::text[])
order by j.kind
