-- The fingerprints of the tokens that ticks were called with, and how long ago each last was.
select t.token, crontick.now() - max(t.started_at) as age
from crontick.ticks as t
where t.token is not null
group by t.token
order by t.token
