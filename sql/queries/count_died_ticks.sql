-- Ticks that died before their end, of so long a time.
select count(*) as died
from crontick.ticks as t
where t.ended_at is null and t.lease_expires_at < crontick.now() and t.started_at > crontick.now() - %(within)s::interval
