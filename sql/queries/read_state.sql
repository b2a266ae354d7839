-- What a person asks first: does it tick, is it late, does anything wait for me.
select
    i.environment,
    crontick.now() as now,
    crontick.now() - i.created_at as installed_age,
    exists(select from crontick.test_clock) as test_clock,
    latest.started_at as last_tick_at,
    latest.trigger as last_trigger,
    crontick.now() - latest.started_at as last_tick_age,
    (
        select count(*)
        from crontick.ticks as t
        where t.ended_at is null and t.lease_expires_at < crontick.now() and t.started_at > crontick.now() - interval '1 day'
    ) as died_ticks,
    (
        select max(crontick.now() - o.oldest_due_at) from crontick.overview as o
        where o.held_by is null
    ) as oldest_due,
    (select count(*) from crontick.dead_letters) as dead_letters,
    (select count(*) from crontick.doubts) as doubts,
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
        select sum(o.jobs) from crontick.overview as o
        where o.held_by = 'kind'
    )::bigint as unknown_kinds,
    (
        select sum(o.jobs) from crontick.overview as o
        where left(o.held_by, 4) = 'key:'
    )::bigint as missing_keys,
    (
        select count(*) from crontick.unfinished_jobs as j
        where j.held_by = 'suspect' and j.held_by <> 'group' and j.lone_rescues >= 2
    ) as refused_ends,
    (select count(*) from crontick.blocked_groups) as blocked_groups
from crontick.installation as i
left join lateral (
    select t.started_at, t.trigger
    from crontick.ticks as t
    where t.stop_reason is distinct from 'busy'
    order by t.started_at desc
    limit 1
) as latest on true
