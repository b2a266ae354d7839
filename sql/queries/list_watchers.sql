-- The watchers of the last day, the one that was seen last first. Ages are real, whatever the test clock says.
select w.host, w.process, w.every, w.listens, statement_timestamp() - w.seen_at as silent
from crontick.watchers as w
where w.seen_at > statement_timestamp() - interval '1 day'
order by w.seen_at desc
limit 100
