-- The lines of these limits: those in which jobs wait, then others that were drawn from, no more than at_most of each limit. What there is
-- room for, and how many wait, up to a thousand. A limit without a key has one line, also before anything was drawn from it.
with told as (select %(limits)s::jsonb as limits),

named as (
    select l.name, l.path is not null as keyed
    from told as t
    cross join lateral jsonb_to_recordset(t.limits) as l (name text, path jsonb)
),

found as (
    select distinct on (line.hold) n.name, line.hold, line.key, line.look_at
    from named as n
    cross join
        lateral (
            (
                select w.hold, w.key, w.look_at
                from crontick.limit_lines as w
                where w.limit_name = n.name and w.look_at is not null
                order by w.limit_name, w.said
                limit %(at_most)s
            )
            union all
            (
                select d.hold, d.key, d.look_at
                from crontick.limit_lines as d
                where
                    d.hold >= 'limit:' || n.name || ':' and d.hold <= 'limit:' || n.name || ':' || repeat('f', 32)
                    and d.limit_name = n.name
                order by d.hold
                limit %(at_most)s
            )
            union all
            select 'limit:' || n.name || ':' || left(encode(sha256(''), 'hex'), 32), '', null
            where not n.keyed
        ) as line
    order by line.hold, line.look_at
),

counted as (
    select
        f.name, f.hold, f.key, f.look_at,
        (
            select count(*)
            from (
                select from crontick.unfinished_jobs as j
                where j.held_by = f.hold and j.held_by <> 'group'
                limit 1000 -- noqa: AM09
            ) as held
        ) as waiting
    from found as f
)

select c.name, c.key, r.tokens, r.burst, r.seats, c.waiting, nullif(c.look_at, 'infinity') as next_room_at
from told as t
cross join
    lateral crontick.room_in_lines(
        t.limits, array(select f.hold from found as f), crontick.now(), null, null
    ) as r
inner join counted as c on r.hold = c.hold
order by c.name, c.waiting desc, c.key
