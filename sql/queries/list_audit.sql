-- Who did what, the latest first. Pages go on below the last id.
select a.id, a.at, a.by, a.session_role, a.action, a.target, a.job, a.reason, a.details::text as details
from crontick.audit as a
where %(below)s::bigint is null or a.id < %(below)s::bigint
order by a.id desc
limit %(at_most)s
