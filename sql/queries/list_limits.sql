-- Lines in which jobs wait for a limit, the longest first; psycopg cannot read infinity. A thousand lines are looked at, and a thousand
-- jobs of each.
with waiting as materialized (
    select l.limit_name, l.key, l.said, l.hold, l.look_at
    from crontick.limit_lines as l
    where l.look_at is not null
    order by l.look_at, l.hold
    limit 1000
)

select
    w.limit_name as name, w.key, w.said as says, line.waiting, line.oldest_due_at, nullif(w.look_at, 'infinity') as next_room_at
from waiting as w
cross join
    lateral (
        select count(*) as waiting, min(held.run_at) as oldest_due_at
        from (
            select j.run_at from crontick.unfinished_jobs as j
            where j.held_by = w.hold and j.held_by <> 'group'
            limit 1000 -- noqa: AM09
        ) as held
    ) as line
where line.waiting > 0
order by line.waiting desc, w.limit_name, w.key
limit %(at_most)s
