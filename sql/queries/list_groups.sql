-- Groups whose head keeps others waiting, the longest wait first; of a thousand groups, no more are looked at, and no more than a
-- hundred jobs of each.
with waiting as materialized (
    select w.group_digest, w.waiting_since from crontick.waiting_groups(1000) as w
    order by w.waiting_since
    limit %(at_most)s
)

select
    h.group_key, h.id as head, h.kind as head_kind, h.status as head_status, h.held_by as head_held_by, h.attempt as head_attempt,
    crontick.now() - h.created_at as head_age, h.run_at as head_run_at,
    (
        select count(*)
        from (
            select from crontick.unfinished_jobs as j
            where j.group_digest = w.group_digest and j.held_by = 'group'
            order by j.group_digest, j.id
            limit 100
        ) as behind
    ) as waiting,
    crontick.now() - w.waiting_since as oldest_age, left(h.last_error, 200) as head_error
from waiting as w
inner join
    crontick.unfinished_jobs as h
    on w.group_digest = h.group_digest and h.in_line and h.held_by is distinct from 'group'
order by w.waiting_since, h.id
