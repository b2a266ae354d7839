"""The connection between two ticks: kept while the next is expected soon, for a frozen one keeps a database awake."""

import asyncio
import time
from typing import Any

import psycopg

from crontick.jobs.link import Link

__all__ = ["Keeper"]


class Keeper:
    """One idle connection at most, of the loop that made it. It is checked by the opening itself, never by a ping."""

    def __init__(self) -> None:
        self._kept: tuple[str, asyncio.AbstractEventLoop, psycopg.AsyncConnection[Any]] | None = None
        self._until = 0.0
        self._last_tick_at: float | None = None

    def take(self, url: str) -> psycopg.AsyncConnection[Any] | None:
        """The kept one, if it fits; the keeper has none afterwards."""
        kept, self._kept = self._kept, None
        if kept is None:
            return None
        kept_url, loop, conn = kept
        fresh = _now() <= self._until
        if fresh and kept_url == url and loop is asyncio.get_running_loop() and not conn.closed:
            return conn
        conn.pgconn.finish()
        return None

    async def keep(self, url: str, link: Link, within_seconds: float) -> None:
        """Keep it if the tick before was so short a while ago that the next may be, too; else close it."""
        now, before = _now(), self._last_tick_at
        self._last_tick_at = now
        soon = before is not None and now - before <= within_seconds
        conn = link.take()
        if conn is None or conn.closed:
            return
        if soon and self._kept is None:
            self._kept = (url, asyncio.get_running_loop(), conn)
            self._until = now + within_seconds
        else:
            await conn.close()


def _now() -> float:
    """By the wall clock, which alone is sure to go on in a frozen process; one that is set costs a connection."""
    return time.time()
