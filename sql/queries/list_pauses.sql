-- What is paused, since when, by whom and why.
select p.what, p.name, p.paused_at, p.by, p.reason, p.status_code
from crontick.paused as p
order by p.paused_at
