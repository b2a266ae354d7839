-- What is paused, by whom, since when and why.
create or replace view crontick.paused as
select p.what, p.name, p.paused_at, p.by, p.reason, p.session_role
from crontick.pauses as p;
