-- Markers of which nobody knows whether the message was sent: a person decides with crontick.resolve_doubt.
create or replace view crontick.doubts as
select m.kind, m.key, m.job, m.reserved_at, m.settled_at as in_doubt_since, m.provider, m.provider_message_id, m.content_hash
from crontick.markers as m
where m.state = 'in_doubt';
