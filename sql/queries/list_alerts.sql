-- Alerts, what is active first, then what ended last.
select
    a.id, a.name, a.subject, a.since, a.started_at, a.ended_at, a.told_at,
    (
        select max(s.until) from crontick.alert_silences as s
        where s.name in (a.name, a.name || ':' || a.subject) and s.until > crontick.now()
    ) as silenced_until,
    a.counted, a.what, a.mend, a.error, a.job,
    (
        select string_agg(m.channel || ': ' || m.error, '; ' order by m.channel) from crontick.alert_messages as m
        where m.alert = a.id and m.told_at is null and m.error is not null
    ) as not_told
from crontick.alerts as a
where a.ended_at is null or not %(active)s
order by a.ended_at desc nulls first, a.id desc
limit %(at_most)s
