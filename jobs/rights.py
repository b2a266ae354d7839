"""Which right a database role lacks, of whoever looks, decides, enqueues or migrates."""

import re
from typing import Final

from crontick.jobs.unavailable import Unavailable, unavailable

__all__ = ["READING", "unavailable_outside_ticks"]

READING: Final = frozenset(
    {
        "why",
        "why_schedule",
        "fingerprint_of",
        "now",
        "lanes",
        "count_work",
        "waiting_groups",
        "told_hold",
        "endpoint_of",
        "did_you_mean",
    }
)
"""The functions that crontick_read may call."""
_ENQUEUEING: Final = frozenset({"enqueue", "enqueue_many", "enqueue_once", "complete"})
_FUNCTION: Final = re.compile(r"function (\w+)")
_OWNING: Final = re.compile(r"must be owner|for database")


def unavailable_outside_ticks(error: BaseException) -> Unavailable:
    """As ``unavailable``, but a missing right is named by what was being done, which was no tick.

    PostgreSQL tells it in text alone; in another language than English it is told as a right to read.
    """
    if getattr(error, "sqlstate", None) != "42501":
        return unavailable(error)
    if _OWNING.search(str(error)):
        return Unavailable("the database role may not change the schema: use its owner's in CRONTICK_MIGRATE_URL")
    named = _FUNCTION.search(str(error))
    if named is None or named[1] in READING:
        return Unavailable("the database role may not read this: grant it crontick_read (docs: roles)")
    if named[1] in _ENQUEUEING:
        return Unavailable("the database role may not enqueue: grant it crontick_enqueue (docs: roles)")
    return Unavailable("the database role may not decide this: grant it crontick_admin (docs: roles)")
