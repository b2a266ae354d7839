"""An alarm is named by its moment and its call, so that nobody who comes later can move one that is set (P42)."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

__all__ = ["Alarm", "NotArmed", "alarm_for"]

_AHEAD: Final = timedelta(seconds=5)
"""A moment nearer than this may have passed, or its alarm gone off, before the platform has read the request: the name
would then be taken for that of an alarm which is still to come."""
_START: Final = datetime(1970, 1, 1, tzinfo=UTC)


class NotArmed(Exception):
    """Nobody will call at that moment, as far as is known; the text is in crontick's own words (P31)."""


class Alarm(msgspec.Struct, frozen=True):
    """One call at ``at``."""

    at: datetime

    def name(self, *call: str) -> str:
        """The same for all who want that call at that moment, and fit to be a name everywhere.

        ``call`` is whatever the platform is told of it: one that another deployment set, or that holds a secret which
        was rotated since, is not taken for this one.
        """
        digest = hashlib.sha256("\0".join(call).encode()).hexdigest()
        return f"crontick-{self.at:%Y%m%dT%H%M%SZ}-{digest[:8]}"

    @property
    def rfc3339(self) -> str:
        """``2026-11-30T09:15:00Z``."""
        return f"{self.at:%Y-%m-%dT%H:%M:%SZ}"


def alarm_for(due_at: datetime, *, now: datetime, precision: timedelta) -> Alarm:
    """The first alarm at which ``due_at`` has come, rounded up to a whole ``precision``, and never in the past."""
    since = max(due_at, now + _AHEAD) - _START
    return Alarm(_START - (-since // precision) * precision)
