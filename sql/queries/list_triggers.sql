-- Who called ticks in the last seven days, a thousand of each at most: how often each is expected, and its gaps by how many times that
-- they are. Ticks that ticks asked for (fan-out) are nobody's calls.
with recursive named as (
    (
        select t.trigger from crontick.ticks as t
        where t.trigger is not null
        order by t.trigger
        limit 1
    )
    union all
    select following.trigger
    from named
    cross join lateral (
        select t.trigger from crontick.ticks as t
        where t.trigger > named.trigger
        order by t.trigger
        limit 1
    ) as following
),

called as (
    select
        named.trigger, t.started_at, t.scheduled_for,
        t.started_at - lag(t.started_at) over (partition by named.trigger order by t.started_at) as gap
    from (
        select n.trigger from named as n
        where n.trigger <> 'fan-out'
        order by n.trigger
        limit 50
    ) as named
    cross join lateral (
        select latest.started_at, latest.scheduled_for
        from crontick.ticks as latest
        where latest.trigger = named.trigger and latest.started_at > crontick.now() - interval '7 days'
        order by latest.started_at desc
        limit 1000
    ) as t
),

expected as (
    select distinct on (c.trigger) c.trigger, crontick.expected_every(c.trigger) as every
    from called as c
)

select
    c.trigger, e.every as expected, count(*) as ticks, max(c.started_at) as last_at,
    percentile_cont(0.5) within group (order by c.gap) as median,
    percentile_cont(0.95) within group (order by c.gap) as p95,
    max(c.gap) as longest,
    percentile_cont(0.5) within group (order by c.started_at - c.scheduled_for) as late,
    count(*) filter (where c.gap <= 0.5 * e.every) as up_to_half,
    count(*) filter (where c.gap > 0.5 * e.every and c.gap <= 1.5 * e.every) as on_time,
    count(*) filter (where c.gap > 1.5 * e.every and c.gap <= 2 * e.every) as up_to_twice,
    count(*) filter (where c.gap > 2 * e.every and c.gap <= 4 * e.every) as late_gaps,
    count(*) filter (where c.gap > 4 * e.every) as missing_gaps
from called as c
inner join expected as e on c.trigger = e.trigger
group by c.trigger, e.every
order by c.trigger
