-- What nobody is told of, and until when.
select s.name, s.until, s.by, s.reason
from crontick.alert_silences as s
where s.until > crontick.now()
order by s.name
