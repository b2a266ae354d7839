"""The engine, and what a developer writes kinds with."""

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
    "Snooze",
    "Summary",
    "Unavailable",
    "kind",
    "process_jobs",
    "reminder",
]
