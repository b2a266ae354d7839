"""What a tick's trips bring back, as types."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from crontick.jobs.ending import Ending
from crontick.jobs.job import Job
from crontick.jobs.summary import StopReason

__all__ = ["Batch", "Opened"]


class Opened(msgspec.Struct):
    """What the opening said of this tick."""

    tick: int
    ran: bool
    reason: str | None
    rescued: int
    late_seconds: float | None
    warnings: list[str]
    opened_at: datetime


class Batch(msgspec.Struct):
    """What one trip brought: jobs to start, and what is left to do."""

    jobs: list[Job]
    closed: bool
    more: bool
    stop_reason: StopReason = "empty"
    next_due_at: datetime | None = None
    oldest_due_seconds: float = 0.0
    cancels: Sequence[int] = ()
    unknown_kinds: Sequence[str] = ()
    active_alerts: Sequence[str] = ()
    held: frozenset[int] = frozenset()
    """Jobs whose rows somebody holds: their outcomes go with the next exchange."""
    lost: frozenset[int] = frozenset()
    completed: frozenset[int] = frozenset()
    cancelled: frozenset[int] = frozenset()
    refused: Sequence[int] = ()
    """The parent of each child that the database refused."""
    cleared: bool = False
    """Seats are free, and what was in the way of those who may take them is no longer."""
    settled: list[Ending] = []
    reminders: list[tuple[str, int, int, int]] = []
    fired: list[tuple[str, int, int, int, int | None, str | None]] = []
    """Of each schedule that was looked at: jobs, refusals, skips in a row, the job it waits for, what is wrong."""
