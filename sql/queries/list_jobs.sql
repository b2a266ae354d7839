-- Jobs for a person, the newest first; each filter that is null lets everything through. Pages go on below the last id.
select
    j.id, j.kind, j.queue, j.status, j.held_by, j.priority, j.attempt, j.run_at, j.created_at, j.finished_at, j.group_key,
    j.unique_key, left(j.last_error, 200) as last_error
from crontick.jobs as j
where
    (%(status)s::text is null or j.status = %(status)s::text)
    and (%(kind)s::text is null or j.kind = %(kind)s::text)
    and (%(queue)s::text is null or j.queue = %(queue)s::text)
    and (%(group_key)s::text is null or j.group_key = %(group_key)s::text)
    and (%(error)s::text is null or strpos(lower(j.last_error), lower(%(error)s::text)) > 0)
    and (%(below)s::bigint is null or j.id < %(below)s::bigint)
order by j.id desc
limit %(at_most)s
