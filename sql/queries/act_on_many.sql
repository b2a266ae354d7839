-- Act on the jobs that match, or count them where no count was confirmed.
select m.matched, m.done, m.next_at
from crontick.act_on_many(
    %(action)s, %(by)s, %(reason)s, %(matching)s::jsonb, %(confirmed)s::int, %(at_most)s::int, %(per_minute)s::int,
    %(run_at)s::timestamptz
) as m
