"""The engine, and what a developer writes kinds with."""

from typing import TYPE_CHECKING

from crontick.jobs.backoff import Exponential
from crontick.jobs.context import Context
from crontick.jobs.job import Job
from crontick.jobs.kind import Kind, kind
from crontick.jobs.once import InDoubt, Once
from crontick.jobs.payload import PayloadError
from crontick.jobs.process import process_jobs
from crontick.jobs.reminders import Item, Reminder, reminder
from crontick.jobs.signals import Cancel, LeaseLost, Permanent, Retry, Snooze
from crontick.jobs.summary import Summary
from crontick.jobs.unavailable import Unavailable

if TYPE_CHECKING:
    from crontick.jobs.scheduled import Scheduled
    from crontick.jobs.schedules import schedule

__all__ = [
    "Cancel",
    "Context",
    "Exponential",
    "InDoubt",
    "Item",
    "Job",
    "Kind",
    "LeaseLost",
    "Once",
    "PayloadError",
    "Permanent",
    "Reminder",
    "Retry",
    "Scheduled",
    "Snooze",
    "Summary",
    "Unavailable",
    "kind",
    "process_jobs",
    "reminder",
    "schedule",
]


def __getattr__(name: str) -> object:
    """What schedules need, imported where it is used: a tick without them does not pay for it."""
    if name == "schedule":
        from crontick.jobs.schedules import schedule

        return schedule
    if name == "Scheduled":
        from crontick.jobs.scheduled import Scheduled

        return Scheduled
    raise AttributeError(f"module {__name__} has no attribute {name}")
