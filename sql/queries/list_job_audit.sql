-- What people did to a job, the latest first.
select a.id, a.at, a.by, a.session_role, a.action, a.target, a.job, a.reason, a.details::text as details
from crontick.audit as a
where a.job = %(id)s
order by a.id desc
limit %(at_most)s
