-- Groups whose head keeps others waiting: the head, its state and since when it is there, and how many wait since when.
create or replace view crontick.blocked_groups as
select
    h.group_key, h.id as head, h.kind as head_kind, h.status as head_status, h.held_by as head_held_by, h.run_at as head_run_at,
    h.last_error as head_error, waiting.jobs as waiting, waiting.oldest_at as waiting_since,
    h.attempt as head_attempt, h.created_at as head_since
from crontick.unfinished_jobs as h
cross join
    lateral (
        select count(*) as jobs, min(w.created_at) as oldest_at
        from crontick.unfinished_jobs as w
        where w.group_digest = h.group_digest and w.held_by = 'group'
    ) as waiting
where h.in_line and h.held_by is distinct from 'group' and waiting.jobs > 0;
