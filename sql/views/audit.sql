-- Who did what, when and why, whatever the door: SQL, command line, API or page.
create or replace view crontick.audit as
select a.id, a.at, a.by, a.session_role, a.action, a.target, a.job, a.reason, a.details
from crontick.audit_log as a;
