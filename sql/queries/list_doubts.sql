-- Messages of which nobody knows whether they were sent, the oldest first.
select d.kind, d.key, d.job, d.reserved_at, d.in_doubt_since, d.provider, d.provider_message_id
from crontick.doubts as d
where %(kind)s::text is null or d.kind = %(kind)s::text
order by d.in_doubt_since
limit %(at_most)s
