-- What is paused, by whom, since when and why; status_code is the answer that did it, where no person did.
create or replace view crontick.paused as
select p.what, p.name, p.paused_at, p.by, p.reason, p.session_role, p.status_code
from crontick.pauses as p;
