-- What a person asks first: does it tick, is it late, does anything wait for me. Counts end at ten thousand, that of groups at a
-- thousand; what somebody has to do is the same for more.
select
    i.environment,
    crontick.now() as now,
    crontick.now() - i.created_at as installed_age,
    exists(select from crontick.test_clock) as test_clock,
    latest.started_at as last_tick_at,
    latest.trigger as last_trigger,
    crontick.now() - latest.started_at as last_tick_age,
    (
        select min(recent.wake_at)
        from (
            select t.wake_at
            from crontick.ticks as t
            order by t.started_at desc
            limit 100
        ) as recent
        where recent.wake_at > crontick.now()
    ) as wake_at,
    (
        select count(*)
        from crontick.ticks as t
        where t.ended_at is null and t.lease_expires_at < crontick.now() and t.started_at > crontick.now() - interval '1 hour'
    ) as died_ticks,
    (
        select crontick.now() - min(l.oldest_at) from crontick.lanes(crontick.now(), null, '{}') as l
    ) as oldest_due,
    (
        select count(*)
        from (
            select from crontick.finished_jobs as f
            where f.status = 'dead' and f.resolution is null
            order by f.id
            limit 10000
        ) as dead
    ) as dead_letters,
    (
        select count(*)
        from (
            select from crontick.markers as m
            where m.state = 'in_doubt'
            order by m.kind, m.reserved_at
            limit 10000
        ) as doubts
    ) as doubts,
    (
        select count(*) from crontick.paused as p
        where p.status_code is not null
    ) as disabled_endpoints,
    (
        select count(*) from crontick.breakers as b
        where b.state <> 'closed'
    ) as open_breakers,
    (
        select count(*)
        from crontick.schedules as s
        where s.removed_at is null and s.paused_at is null and (
            s.error is not null or s.skips_in_a_row >= 3
            or not exists (
                select
                from crontick.kinds as k
                where k.name = s.kind and k.seen_at > crontick.now() - interval '1 day'
            )
        )
    ) as kept_schedules,
    (
        select nullif(count(*), 0)
        from (
            select from crontick.unfinished_jobs as j
            where j.held_by = 'kind' and j.held_by <> 'group'
            order by j.held_by, j.kind, j.id
            limit 10000
        ) as unknown
    ) as unknown_kinds,
    (
        select nullif(count(*), 0)
        from (
            select from crontick.unfinished_jobs as j
            where j.held_by <> 'group' and j.held_by >= 'ke' and j.held_by < 'kf'
            order by j.held_by, j.kind, j.id
            limit 10000
        ) as sealed
    ) as missing_keys,
    (
        select count(*)
        from (
            select j.lone_rescues from crontick.unfinished_jobs as j
            where j.held_by = 'suspect' and j.held_by <> 'group'
            order by j.held_by, j.kind, j.id
            limit 10000
        ) as suspect
        where suspect.lone_rescues >= 2
    ) as refused_ends,
    (select count(*) from crontick.waiting_groups(1000)) as blocked_groups
from crontick.installation as i
left join lateral (
    select t.started_at, t.trigger
    from crontick.ticks as t
    where t.stop_reason is distinct from 'busy'
    order by t.started_at desc
    limit 1
) as latest on true
