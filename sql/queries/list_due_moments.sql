-- When jobs came due in the last days, and since when each moment was known. The latest ones, where there are too many.
with bounds as (
    select crontick.now() - make_interval(secs => %(within_seconds)s) as since, crontick.now() as until
),

ran as (
    select j.id, j.run_at, j.created_at, j.started_at, j.claimed_at
    from crontick.finished_jobs as j
    where j.finished_at >= (select b.since from bounds as b)
),

moments as (
    -- A job that ran once was due at its own time; one that never ran was not. What was due before it was enqueued is a slot of a
    -- schedule, known long before.
    select
        r.id, r.run_at as due_at,
        case when r.created_at > r.run_at then r.run_at - interval '1 hour' else r.created_at end as known_at
    from ran as r
    where r.claimed_at = r.started_at
    union all
    -- One that ran again keeps the time of its last run only; when it first ran stands for when it was first due.
    select r.id, r.started_at as due_at, r.started_at as known_at from ran as r
    where r.claimed_at > r.started_at
    union all
    select r.id, r.run_at as due_at, least(r.started_at, r.run_at) as known_at from ran as r
    where r.claimed_at > r.started_at
    union all
    select a.job as id, a.retry_at as due_at, a.ended_at as known_at
    from crontick.attempts as a
    where a.retry_at is not null and a.ended_at >= (select b.since from bounds as b)
),

once as (
    select m.id, m.due_at, min(m.known_at) as known_at
    from bounds as b
    inner join moments as m on b.since <= m.due_at and b.until > m.due_at
    group by m.id, m.due_at
)

select o.due_at, min(o.known_at) as known_at, count(*)::int as jobs from once as o
group by o.due_at
order by o.due_at desc
limit %(at_most)s
