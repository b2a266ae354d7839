"""Which tick was the first that something outside called, and how late it came."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from crontick.handler.cli.database import There, ask
from crontick.handler.cli.screen import Row
from crontick.jobs.caller import FAN_OUT, WAKE, WATCH

INSIDE: Final = frozenset({"command-line", WATCH, FAN_OUT, WAKE, "process_jobs", "drain", "crontick dev"})
"""What crontick's own processes say that they are; an alarm comes only because an earlier tick set it."""
PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Arrival:
    """A tick that came from outside, beside what is known of its trigger.

    ``late`` is against ``scheduled_for`` where the caller said when it was due, else against what is expected of the
    trigger; None where neither is known.
    """

    tick: Row
    expected: timedelta | None
    gap: timedelta | None
    late: timedelta | None


def is_outside(trigger: str | None) -> bool:
    """Whether it says that something other than crontick called."""
    return trigger not in INSIDE


def first_since(there: There, since: datetime, trigger: str | None) -> Row | None:
    """The earliest such tick that began after ``since``; None while there is none."""
    wanted = [row for row in _since(there, since, trigger) if trigger is not None or is_outside(row["trigger"])]
    return wanted[-1] if wanted else None


def inside_since(there: There, since: datetime) -> list[str]:
    """Names of those that crontick itself called."""
    return sorted({row["trigger"] for row in _since(there, since, None) if not is_outside(row["trigger"])})


def arrival(there: There, tick: Row) -> Arrival:
    """How late that tick was."""
    expected = {row["trigger"]: row["expected"] for row in ask(there, "list_triggers")}.get(tick["trigger"])
    before = ask(there, "list_ticks", {"trigger": tick["trigger"], "below": tick["id"], "at_most": 1})
    gap: timedelta | None = tick["started_at"] - before[0]["started_at"] if before else None
    late: timedelta | None = tick["late"]
    if late is None and gap is not None and expected is not None:
        late = max(gap - expected, timedelta())
    return Arrival(tick, expected, gap, late)


def _since(there: There, since: datetime, trigger: str | None) -> Iterator[dict[str, Any]]:
    """The latest first, a page at a time."""
    below: int | None = None
    while True:
        page = ask(there, "list_ticks", {"trigger": trigger, "below": below, "at_most": PAGE})
        for row in page:
            if row["started_at"] <= since:
                return
            yield row
        if len(page) < PAGE:
            return
        below = page[-1]["id"]
