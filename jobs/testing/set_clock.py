"""The database's clock, set for the transaction that is open on the test's connection."""

from collections.abc import Awaitable
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, overload

from crontick.jobs.connections import AsyncCallersConnection, CallersConnection
from crontick.jobs.testing.ground import MADE_FOR_TESTS, NO_TRANSACTION
from crontick.jobs.testing.say import ask, held

__all__ = ["AsyncClock", "Clock", "clock"]


class Clock(Protocol):
    """``crontick.now()`` as one transaction sees it; once set it stands, until it is set again."""

    def set(self, at: datetime) -> datetime:
        """It is ``at``, a moment with its zone."""
        ...

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> datetime:
        """It is so much later; the moment that it is now."""
        ...

    def now(self) -> datetime:
        """What time it is."""
        ...


class AsyncClock(Protocol):
    """The same on an async connection."""

    def set(self, at: datetime) -> Awaitable[datetime]:
        """It is ``at``, a moment with its zone."""
        ...

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> Awaitable[datetime]:
        """It is so much later; the moment that it is now."""
        ...

    def now(self) -> Awaitable[datetime]:
        """What time it is."""
        ...


@overload
def clock(conn: CallersConnection) -> Clock: ...
@overload
def clock(conn: AsyncCallersConnection) -> AsyncClock: ...
def clock(conn: Any) -> Any:
    """The clock of the transaction that is open on ``conn``: what is due, backoff, leases, schedules and retention.

    The database must have been migrated with its test clock. The process's own time does not move.
    """
    return _Clock(conn)


class _Clock:
    def __init__(self, conn: Any) -> None:
        self._conn = conn

    def set(self, at: datetime) -> Any:
        if at.tzinfo is None:
            raise ValueError(f"{at} has no time zone: give an aware datetime, for example with datetime.now(UTC)")
        return held(self._conn, _moved(self._conn, at, 0))

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> Any:
        by = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        return held(self._conn, _moved(self._conn, None, by.total_seconds()))

    def now(self) -> Any:
        return held(self._conn, _now(self._conn))


async def _now(conn: Any) -> datetime:
    [(now, _)] = await ask(conn, "read_clock")
    return _utc(now)


async def _moved(conn: Any, at: datetime | None, seconds: float) -> datetime:
    [(said,)] = await ask(conn, "set_clock", {"at": at, "seconds": seconds})
    [(now, setting)] = await ask(conn, "read_clock")
    if not setting:
        raise RuntimeError(NO_TRANSACTION)
    [(again, _)] = await ask(conn, "read_clock")
    if again != now or setting != said:
        raise RuntimeError(f"this database has no test clock: {MADE_FOR_TESTS}")
    return _utc(now)


def _utc(moment: datetime) -> datetime:
    """Drivers give the session's zone."""
    return moment.astimezone(UTC)
