-- Groups whose head keeps others waiting, the longest wait first.
select
    g.group_key, g.head, g.head_kind, g.head_status, g.head_held_by, g.head_attempt, crontick.now() - g.head_since as head_age,
    g.head_run_at, g.waiting, crontick.now() - g.waiting_since as oldest_age, left(g.head_error, 200) as head_error
from crontick.blocked_groups as g
order by g.waiting_since, g.head
limit %(at_most)s
