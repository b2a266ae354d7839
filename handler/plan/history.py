"""When jobs come due: as the database remembers it, or at random moments of which only the rate is known."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final

import msgspec
import psycopg

from crontick.sql import query

__all__ = ["MONTH", "Due", "History", "at_random", "read_history"]

MONTH: Final = timedelta(days=30)
SHORTEST: Final = timedelta(hours=1)
"""Less than that tells nothing of a month."""
MOMENTS_AT_MOST: Final = 200_000
_RANDOM_FROM: Final = datetime(2026, 1, 1, tzinfo=UTC)
_KNOWN_BEFORE: Final = timedelta(hours=1)


class Due(msgspec.Struct, frozen=True):
    """A moment at which ``jobs`` came due, known since ``known_at``: before that nobody could set an alarm for it."""

    at: datetime
    known_at: datetime
    jobs: int = 1


class History(msgspec.Struct, frozen=True):
    """The moments of a stretch of time, the first one first; a job takes ``job_seconds`` of a tick."""

    starts_at: datetime
    ends_at: datetime
    moments: Sequence[Due]
    job_seconds: float = 0

    @property
    def length(self) -> timedelta:
        """From its beginning to its end, whether or not something was due there."""
        return self.ends_at - self.starts_at

    @property
    def jobs(self) -> int:
        """All that came due; a job that was tried three times counts three times."""
        return sum(due.jobs for due in self.moments)


def read_history(conn: psycopg.Connection[dict[str, Any]], within: timedelta) -> History | None:
    """What the tables of jobs and ticks remember; None where that is too little to tell anything.

    It begins with the first tick or due moment: an app that is a day old is not taken for one that slept for a week.
    """
    values = {"within_seconds": within.total_seconds(), "at_most": MOMENTS_AT_MOST}
    [times] = conn.execute(query("read_tick_times").text.encode(), values).fetchall()
    rows = conn.execute(query("list_due_moments").text.encode(), values).fetchall()
    if not rows:
        return None
    moments = [_due(row) for row in reversed(rows)]
    first = moments[0].at
    # Of a full page the earlier moments were left out.
    starts_at = first if len(rows) == MOMENTS_AT_MOST else min(first, times["first_at"] or first)
    busy_seconds = times["busy"].total_seconds()
    made = History(starts_at, times["until"], moments, busy_seconds / times["claimed"] if times["claimed"] else 0)
    return made if made.length >= SHORTEST else None


def at_random(*, jobs_per_day: float, due_moments_per_day: float, job_seconds: float) -> History:
    """A month of as many moments as the rates say, each where chance puts it, and the same ones each time.

    Real jobs come in crowds, which are cheaper: more of them share a wake.
    """
    chance = Random(0)  # noqa: S311 (a picture of chance, no secret)
    count = round(due_moments_per_day * MONTH.days)
    places = sorted(chance.random() for _ in range(count))
    jobs = round(jobs_per_day * MONTH.days)
    # As even as whole numbers can be, so that together they are exactly the jobs.
    shares = [(nth + 1) * jobs // count - nth * jobs // count for nth in range(count)]
    moments = [_RANDOM_FROM + MONTH * place for place in places]
    dues = [Due(at, at - _KNOWN_BEFORE, share) for at, share in zip(moments, shares, strict=True)]
    return History(_RANDOM_FROM, _RANDOM_FROM + MONTH, dues, job_seconds)


def _due(row: dict[str, Any]) -> Due:
    return Due(row["due_at"], row["known_at"], row["jobs"])
