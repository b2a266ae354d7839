-- Dead jobs that wait for a person, the latest first. Pages go on below the last id, also where that one was resolved meanwhile.
with last as (
    select f.finished_at, f.id from crontick.finished_jobs as f
    where f.id = %(below)s::bigint
)

select
    d.id, d.kind, d.queue, d.attempt, d.finished_at as died_at, d.last_status_code, crontick.fingerprint_of(d.id) as fingerprint,
    left(d.last_error, 200) as last_error
from crontick.dead_letters as d
where
    (%(kind)s::text is null or d.kind = %(kind)s::text)
    and (%(queue)s::text is null or d.queue = %(queue)s::text)
    and (%(error)s::text is null or strpos(lower(d.last_error), lower(%(error)s::text)) > 0)
    and (%(fingerprint)s::text is null or crontick.fingerprint_of(d.id) = %(fingerprint)s::text)
    and (
        %(below)s::bigint is null
        or (d.finished_at, d.id) < (select l.finished_at, l.id from last as l)
    )
order by d.finished_at desc, d.id desc
limit %(at_most)s
