-- Dead letters that wait for a person, by kind, endpoint and error; no more than look_at are looked at, the newest.
with waiting as materialized (
    select
        f.id, f.kind, crontick.endpoint_of(f.kind, f.payload) as endpoint, f.finished_at, f.last_status_code,
        left(f.last_error, 200) as last_error
    from crontick.finished_jobs as f
    where f.status = 'dead' and f.resolution is null
    order by f.id desc
    limit %(look_at)s
),

told as (
    select
        w.kind, w.endpoint, crontick.fingerprint_of(w.id) as fingerprint, count(*) as jobs, min(w.finished_at) as first_at,
        max(w.finished_at) as last_at, max(w.id) as latest
    from waiting as w
    group by w.kind, w.endpoint, crontick.fingerprint_of(w.id)
)

select
    t.kind, t.endpoint, t.fingerprint, t.jobs, t.first_at, t.last_at, t.latest, w.last_status_code, w.last_error
from told as t
inner join waiting as w on t.latest = w.id
order by t.jobs desc, t.latest desc
