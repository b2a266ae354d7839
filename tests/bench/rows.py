"""The rows that stand around a drain: a million finished, and those that cannot run now."""

from typing import Any, Final

import psycopg

__all__ = ["fill", "surround"]

_DUE: Final = """
insert into crontick.unfinished_jobs (
    kind, queue, priority, run_at, due_at, created_at, updated_at, payload
)
select 'noop', 'default', 0, now() - interval '1 minute' + n * interval '1 microsecond',
    now() - interval '1 minute' + n * interval '1 microsecond', now(), now(), jsonb_build_object('n', n)
from generate_series(1, %(jobs)s) as n
"""
_AROUND: Final = (
    """
    insert into crontick.finished_jobs (
        id, run_at, created_at, finished_at, priority, attempt, kind, queue, status, payload
    )
    select -n, now() - interval '1 day', now() - interval '1 day', now() - interval '1 day', 0, 1, 'noop', 'default',
        'succeeded', jsonb_build_object('n', n)
    from generate_series(1, %(finished)s) as n
    """,
    """
    insert into crontick.successes (ended_at, job_ids)
    select max(finished_at), array_agg(id) from crontick.finished_jobs group by id / 100
    """,
    """
    insert into crontick.unfinished_jobs (
    kind, queue, priority, run_at, due_at, created_at, updated_at, payload
)
    select 'noop', 'default', 0, now() + interval '1 day' + n * interval '1 second',
        now() + interval '1 day' + n * interval '1 second', now(), now(), jsonb_build_object('n', n)
    from generate_series(1, %(future)s) as n
    """,
    """
    insert into crontick.unfinished_jobs (
    kind, queue, priority, run_at, due_at, created_at, updated_at, payload
)
    select 'noop', 'paused', 5, now() - interval '1 hour', now() - interval '1 hour', now(), now(),
        jsonb_build_object('n', n)
    from generate_series(1, %(paused)s) as n
    """,
    """
    insert into crontick.unfinished_jobs (
        kind, queue, priority, run_at, due_at, created_at, updated_at, payload, group_key, group_digest, in_line,
        held_by
    )
    select 'noop', 'default', 0, now() - interval '1 hour',
        case when n = 1 then now() + interval '1 hour' else 'infinity' end, now(), now(), jsonb_build_object('n', n),
        'one', sha256('one'), true, case when n > 1 then 'group' end
    from generate_series(1, %(grouped)s) as n
    """,
    "select crontick.pause('queue', 'paused', 'bench')",
)


def fill(conn: psycopg.Connection[Any], jobs: int) -> None:
    """So many due no-op jobs."""
    conn.execute(_DUE, {"jobs": jobs})


def surround(
    conn: psycopg.Connection[Any],
    *,
    finished: int = 1_000_000,
    future: int = 200_000,
    paused: int = 100_000,
    grouped: int = 100_000,
) -> None:
    """The rows that a claim must not feel."""
    numbers = {"finished": finished, "future": future, "paused": paused, "grouped": grouped}
    for text in _AROUND:
        conn.execute(text, numbers)
    conn.execute("vacuum (analyze) crontick.finished_jobs")
    conn.execute("vacuum (analyze) crontick.unfinished_jobs")
