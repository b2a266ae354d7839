-- A watcher is here, and asks when the next job is due.
select s.seen_at, s.next_due_at
from crontick.see_watcher(
    %(watcher)s::bigint, %(host)s::text, %(process)s::int, %(version)s::text, %(every_seconds)s::float8, %(listens)s::boolean
) as s
