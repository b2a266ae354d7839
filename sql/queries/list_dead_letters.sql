-- Dead jobs that wait for a person, the latest first.
select
    d.id, d.kind, d.queue, d.attempt, d.finished_at as died_at, d.last_status_code, left(d.last_error, 200) as last_error
from crontick.dead_letters as d
where
    (%(kind)s::text is null or d.kind = %(kind)s::text)
    and (%(error)s::text is null or strpos(lower(d.last_error), lower(%(error)s::text)) > 0)
order by d.finished_at desc, d.id desc
limit %(at_most)s
