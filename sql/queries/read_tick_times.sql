-- Since when there are ticks in the last days, how long those that claimed something ran, and how many jobs they claimed.
select
    crontick.now() as until, min(t.started_at) as first_at, coalesce(sum(t.claimed), 0)::int as claimed,
    coalesce(sum(t.ended_at - t.started_at) filter (where t.claimed > 0), interval '0') as busy
from crontick.ticks as t
where t.started_at >= crontick.now() - make_interval(secs => %(within_seconds)s)
