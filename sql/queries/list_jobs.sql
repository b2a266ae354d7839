-- Jobs for a person, the newest first; each filter that is null lets everything through. Whatever the filter, no more than look_at
-- jobs are looked at: floor is the last of them, or null where there are no others below. Null columns beside floor: none was found.
with looked_at as materialized (
    select j.id
    from crontick.jobs as j
    where
        (%(below)s::bigint is null or j.id < %(below)s::bigint)
        -- Told apart, so that the planner knows which of the two tables it need not read.
        and (not %(unfinished)s or j.status in ('queued', 'running', 'failed'))
        and (not %(finished)s or j.status in ('succeeded', 'dead', 'cancelled'))
    order by j.id desc
    limit %(look_at)s
),

bound as materialized (
    select
        min(l.id) as lowest, case when count(*) = %(look_at)s then min(l.id) end as floor,
        case
            when %(kind)s::text <> all(array(select k.name from crontick.kinds as k))
                then
                    'no deployment knows the kind ' || left(%(kind)s::text, 80)
                    || crontick.did_you_mean(%(kind)s::text, array(select k.name from crontick.kinds as k))
        end as warning
    from looked_at as l
)

select
    b.floor, b.warning, j.id, j.kind, j.queue, j.status, crontick.told_hold(j.held_by) as held_by, j.priority, j.attempt, j.run_at, j.created_at,
    j.finished_at, j.group_key, j.unique_key, left(j.last_error, 200) as last_error
from bound as b
left join
    lateral (
        select j.*
        from crontick.jobs as j
        where
            j.id >= b.lowest
            and (%(below)s::bigint is null or j.id < %(below)s::bigint)
            and (not %(unfinished)s or j.status in ('queued', 'running', 'failed'))
            and (not %(finished)s or j.status in ('succeeded', 'dead', 'cancelled'))
            and (%(status)s::text is null or j.status = %(status)s::text)
            and (%(kind)s::text is null or j.kind = %(kind)s::text)
            and (%(queue)s::text is null or j.queue = %(queue)s::text)
            and (%(group_key)s::text is null or j.group_key = %(group_key)s::text)
            and (%(error)s::text is null or strpos(lower(j.last_error), lower(%(error)s::text)) > 0)
            and (%(since)s::timestamptz is null or j.created_at >= %(since)s::timestamptz)
            and (%(until)s::timestamptz is null or j.created_at < %(until)s::timestamptz)
        order by j.id desc
        limit %(at_most)s
    ) as j
    on true
order by j.id desc
