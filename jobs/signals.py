"""How a function steers the fate of its job: by raising one of these."""

import math
from datetime import timedelta
from typing import Final

__all__ = ["Cancel", "LeaseLost", "Permanent", "Retry", "Signal", "Snooze"]

_SHORTEST: Final = 1.0
"""A snooze or retry is one second at least (P6)."""
_LONGEST: Final = 10 * 365 * 86400.0


class Signal(Exception):
    """A decision of the function, not a fault; it proves that nothing was sent, unless the marker says otherwise."""


class Permanent(Signal):
    """Trying again cannot help: the job is dead at once.

    ``detail`` (what a receiver said, for example) is kept with the attempt, behind the reason, and told to no summary.
    """

    def __init__(self, reason: str, *, status_code: int | None = None, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.status_code = status_code
        self.detail = detail


class Retry(Signal):
    """The attempt failed; try again ``after`` seconds or a timedelta; None is the kind's own backoff.

    ``detail`` is as in ``Permanent``.
    """

    def __init__(
        self,
        reason: str = "",
        *,
        after: timedelta | float | None = None,
        status_code: int | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(reason or "asked to be tried again")
        self.reason = reason or "asked to be tried again"
        self.detail = detail
        self.after_seconds = None if after is None else _seconds(after)
        self.status_code = status_code


class Snooze(Signal):
    """Run later, after ``delay`` seconds or a timedelta, without using up an attempt."""

    def __init__(self, delay: timedelta | float) -> None:
        self.delay_seconds = _seconds(delay)
        super().__init__(f"snoozed for {self.delay_seconds:g} s")


class Cancel(Signal):
    """The job is no longer wanted: it ends as cancelled."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class LeaseLost(RuntimeError):
    """The attempt is over for the engine: somebody else may run the job now, so this one must not act any more."""


def _seconds(length: timedelta | float) -> float:
    seconds = length.total_seconds() if isinstance(length, timedelta) else float(length)
    if math.isnan(seconds):
        raise ValueError("a delay is a number of seconds, not NaN")
    return min(max(seconds, _SHORTEST), _LONGEST)
