-- Receivers of webhooks by name, without their secrets, and how many of their jobs are held, up to a thousand.
select
    e.name, e.host, e.sealed, e.paused_at, e.paused_because, e.updated_at,
    (
        select count(*)
        from (
            select from crontick.unfinished_jobs as j
            where j.held_by = 'endpoint:' || e.name and j.held_by <> 'group'
            limit 1000 -- noqa: AM09
        ) as held
    ) as held
from crontick.endpoints as e
order by e.name
limit %(at_most)s
