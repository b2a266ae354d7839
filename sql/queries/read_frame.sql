-- What every page of the dashboard shows around its own matter; each count stops at a thousand.
select
    i.environment,
    crontick.now() as now,
    exists(select from crontick.test_clock) as test_clock,
    (
        select count(*)
        from (
            select from crontick.finished_jobs as f
            where f.status = 'dead' and f.resolution is null
            order by f.id
            limit 1000
        ) as dead
    ) as dead,
    (
        select count(*)
        from (
            select from crontick.markers as m
            where m.state = 'in_doubt'
            order by m.kind, m.reserved_at
            limit 1000
        ) as doubts
    ) as doubts,
    (
        select count(*)
        from (
            select from crontick.breakers as b
            where b.state <> 'closed'
            order by b.hold
            limit 1000
        ) as breakers
    ) as breakers,
    (
        select count(*)
        from (
            select from crontick.pauses as p
            order by p.what, p.name
            limit 1000
        ) as pauses
    ) as pauses,
    (
        select count(*)
        from (
            select from crontick.alerts as a
            where a.ended_at is null
            order by a.id
            limit 1000
        ) as alerts
    ) as alerts
from crontick.installation as i
