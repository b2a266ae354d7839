-- Targets that failed lately, what is open first, and how many jobs each holds, up to a thousand. Jobs that failed and wait for their
-- time are held by nothing, and not among them.
select
    b.target, b.kind, b.state, b.failures, b.times_opened, b.opened_at, b.retry_at, b.probe_job, b.changed_at, b.by, b.reason,
    (
        select count(*)
        from (
            select from crontick.unfinished_jobs as j
            where j.held_by = b.hold and j.held_by <> 'group'
            limit 1000 -- noqa: AM09
        ) as held
    ) as waiting
from crontick.breakers as b
where b.state <> 'closed' or not %(open_only)s
order by b.state = 'closed', b.opened_at, b.target
limit %(at_most)s
