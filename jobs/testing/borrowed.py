"""Trips on the test's own connection: the engine's statements, each segment a savepoint of the transaction there."""

import asyncio
from collections.abc import Sequence
from typing import Any

from crontick.jobs.link import Build
from crontick.jobs.testing.place import Place
from crontick.jobs.testing.say import as_psycopg, ask, say, say_statement
from crontick.sql.wire import Answer, Segment

__all__ = ["BorrowedLink", "roll_back_to"]

_IN_TRIP = "crontick_trip"


class BorrowedLink:
    """Nothing is lost here and nothing sent twice. While an attempt holds ``turn``, no exchange interrupts it."""

    trip_seconds = 0.0

    def __init__(self, conn: Any, place: Place) -> None:
        self._conn = conn
        self._place = place
        self.turn = asyncio.Lock()

    async def ask(self, build: Build, *, patience_seconds: float | None = None, ours: int = 1) -> list[Answer]:  # noqa: ARG002
        """The answers, once no attempt uses the connection."""
        async with self.turn:
            return await self.tell(build(repeat=False), ours=ours)

    async def tell(self, segments: Sequence[Segment], *, ours: int = 1) -> list[Answer]:  # noqa: ARG002
        """The answers, now: an attempt asks."""
        return [await self._place.speak(_segment(self._conn, segment)) for segment in segments]


async def _segment(conn: Any, segment: Segment) -> Answer:
    """As on the wire an error stays in its segment, and so do the time limits that the segment sets."""
    await say(conn, f"savepoint {_IN_TRIP}")
    [(lock_timeout, statement_timeout)] = await ask(conn, "read_time_limits")
    rows, error = [], None
    try:
        rows = [await say_statement(conn, told) for told in segment]
        await ask(conn, "set_time_limits", {"lock_timeout": lock_timeout, "statement_timeout": statement_timeout})
    except Exception as raised:  # noqa: BLE001 (each driver has its own; what is no database error is raised again)
        error = as_psycopg(raised)
        await roll_back_to(conn, _IN_TRIP)
    await say(conn, f"release savepoint {_IN_TRIP}")
    return Answer(rows, error)


async def roll_back_to(conn: Any, savepoint: str) -> None:
    """The transaction can be used again, as it was at the savepoint."""
    if getattr(
        conn, "needs_rollback", False
    ):  # Django's: it refuses statements until it is told that this one mends it
        conn.needs_rollback = False
    await say(conn, f"rollback to savepoint {savepoint}")
