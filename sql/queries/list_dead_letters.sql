-- Dead jobs that wait for a person, the latest first. Whatever the filter, no more than look_at are looked at: floor is the last of
-- them, or null where there are no others. Pages go on below the last id, also where that one was resolved meanwhile.
with last as (
    select f.finished_at, f.id from crontick.finished_jobs as f
    where f.id = %(below)s::bigint
),

looked_at as materialized (
    select
        f.id, f.kind, f.queue, f.attempt, f.finished_at, f.last_status_code, f.last_error,
        crontick.endpoint_of(f.kind, f.payload) as endpoint
    from crontick.finished_jobs as f
    where
        f.status = 'dead' and f.resolution is null
        and (
            %(below)s::bigint is null
            or (f.finished_at, f.id) < (select l.finished_at, l.id from last as l)
        )
    order by f.finished_at desc, f.id desc
    limit %(look_at)s
),

bound as (
    select case when count(*) = %(look_at)s then (array_agg(l.id order by l.finished_at, l.id))[1] end as floor from looked_at as l
)

select
    b.floor, d.id, d.kind, d.endpoint, d.queue, d.attempt, d.finished_at as died_at, d.last_status_code,
    crontick.fingerprint_of(d.id) as fingerprint, left(d.last_error, 200) as last_error
from bound as b
left join
    lateral (
        select l.*
        from looked_at as l
        where
            (%(kind)s::text is null or l.kind = %(kind)s::text)
            and (%(queue)s::text is null or l.queue = %(queue)s::text)
            and (%(error)s::text is null or strpos(lower(l.last_error), lower(%(error)s::text)) > 0)
            and (%(endpoint)s::text is null or l.endpoint = %(endpoint)s::text)
            and (%(fingerprint)s::text is null or crontick.fingerprint_of(l.id) = %(fingerprint)s::text)
        order by l.finished_at desc, l.id desc
        limit %(at_most)s
    ) as d
    on true
order by d.finished_at desc, d.id desc
