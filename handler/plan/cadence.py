"""When a tick comes by a cadence, and for how long what is due waits for it."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import Final

import msgspec

from crontick.handler.plan.history import History
from crontick.jobs.wake.alarm import alarm_for

__all__ = ["CADENCES", "Cadence", "Delays", "Wake", "awake", "delays", "wakes"]

_START: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE: Final = timedelta(minutes=1)


class Cadence(msgspec.Struct, frozen=True):
    """A tick at each whole ``every``, later by ``offset``; with ``alarms``, also one for each moment that is due."""

    name: str
    every: timedelta
    alarms: bool = False
    offset: timedelta = timedelta()


CADENCES: Final = tuple(Cadence(f"{minutes} min", timedelta(minutes=minutes)) for minutes in (1, 5, 15, 30, 60))


class Wake(msgspec.Struct, frozen=True):
    """A tick, and how many jobs were due when it came."""

    at: datetime
    jobs: int


class Delays(msgspec.Struct, frozen=True):
    """How long jobs waited for a tick."""

    mean: timedelta
    p95: timedelta
    worst: timedelta


def wakes(history: History, cadence: Cadence) -> list[Wake]:
    """The ticks that come in that time, each with the jobs that it finds due."""
    ticks = _ticks(history, cadence)
    found = dict.fromkeys(ticks, 0)
    for due in history.moments:
        found[_first(ticks, due.at)] += due.jobs
    return [Wake(at, jobs) for at, jobs in found.items() if history.starts_at <= at < history.ends_at]


def delays(history: History, cadence: Cadence) -> Delays:
    """How long the jobs waited, each for the first tick that came when it was due, or later; 0 where there are none."""
    ticks = _ticks(history, cadence)
    waited = sorted((_first(ticks, due.at) - due.at, due.jobs) for due in history.moments)
    if not waited:
        return Delays(timedelta(), timedelta(), timedelta())
    total = sum((wait * jobs for wait, jobs in waited), timedelta())
    # The wait that 95 of 100 jobs did not exceed.
    counted = accumulate(jobs for _, jobs in waited)
    p95 = waited[next(nth for nth, jobs in enumerate(counted) if jobs >= 0.95 * history.jobs)][0]
    return Delays(total / history.jobs, p95, waited[-1][0])


def awake(spans: Iterable[tuple[datetime, datetime]]) -> timedelta:
    """How long at least one of the spans lasted; they come in the order of their beginnings."""
    together, until = timedelta(), _START
    for begins_at, ends_at in spans:
        if ends_at > until:
            together += ends_at - max(begins_at, until)
            until = ends_at
    return together


def _ticks(history: History, cadence: Cadence) -> list[datetime]:
    """From the beginning to the first one after the end, for what came due last."""
    anchor = _START + cadence.offset
    first = anchor - (anchor - history.starts_at) // cadence.every * cadence.every
    count = (history.ends_at - first) // cadence.every + 2
    ticks = {first + nth * cadence.every for nth in range(count)}
    if cadence.alarms:
        ticks.update(alarm_for(due.at, now=due.known_at, precision=_MINUTE).at for due in history.moments)
    return sorted(ticks)


def _first(ticks: Sequence[datetime], at: datetime) -> datetime:
    return ticks[bisect_left(ticks, at)]
