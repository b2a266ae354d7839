"""For tests of one's own kinds: the real engine, on the test's own connection and inside its open transaction."""

from crontick.jobs.outcomes import Cancelled, Dead, Failed, HandedBack, Outcome, Snoozed, Succeeded
from crontick.jobs.testing.attempt import run, run_async
from crontick.jobs.testing.drain import drain
from crontick.jobs.testing.look import enqueued
from crontick.jobs.testing.set_clock import Clock, clock

__all__ = [
    "Cancelled",
    "Clock",
    "Dead",
    "Failed",
    "HandedBack",
    "Outcome",
    "Snoozed",
    "Succeeded",
    "clock",
    "drain",
    "enqueued",
    "run",
    "run_async",
]
