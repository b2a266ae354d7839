"""A watcher's own connection: it hears that jobs were enqueued, says that the watcher lives, and heals when lost."""

import asyncio
import logging
import os
import platform
import random
import secrets
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

import msgspec
import psycopg

from crontick.jobs.connect import connect
from crontick.jobs.unavailable import unavailable
from crontick.sql import VERSION, query
from crontick.sql.wire import Segment, statement, trip

__all__ = ["Listening", "Seen"]

BEAT_SECONDS: Final = 20.0
"""An enqueue notifies a watcher that was seen in the last minute: two beats may be lost."""
_TRIP_SECONDS: Final = 15.0
_GOODBYE_SECONDS: Final = 2.0
_PAUSE_SECONDS: Final = (0.2, 30.0)
_LOOKS: Final = 5
"""Among other clients of a pooler two statements may meet different sessions by chance."""
_LOST: Final = (psycopg.Error, OSError, TimeoutError)
log: Final = logging.getLogger("crontick.watch")


class Seen(msgspec.Struct, frozen=True):
    """What the database answers a watcher: its own time, and when it next has something to do; None: never."""

    at: datetime
    next_due_at: datetime | None


class Listening:
    """``on_heard``: somebody notified. ``on_back``: connected, and nobody knows what was notified before."""

    def __init__(
        self, url: str, *, every_seconds: float, on_heard: Callable[[], None], on_back: Callable[[], None]
    ) -> None:
        self._url = url
        self._on_heard = on_heard
        self._on_back = on_back
        self._row: dict[str, Any] = {
            "watcher": secrets.randbits(63),
            "host": platform.node()[:128],
            "process": os.getpid(),
            "version": VERSION,
            "every_seconds": every_seconds,
            "listens": False,
        }
        self._conn: psycopg.AsyncConnection[Any] | None = None
        self._reading: int | None = None
        self._turn = asyncio.Lock()
        self._lost = asyncio.Event()
        self._told: str | None = None

    async def run(self) -> None:
        """Connect, and connect again whenever the connection is lost, until cancelled."""
        least, most = _PAUSE_SECONDS
        pause = least
        while True:
            try:
                await self._open()
                pause = least
                await self._beat()
            except _LOST as error:
                self._tell(f"a watcher cannot listen, and polls until it can: {unavailable(error).reason}")
            self._drop()
            await asyncio.sleep(random.uniform(pause / 2, pause))  # noqa: S311 (no secret)
            pause = min(pause * 2, most)

    async def look(self) -> Seen | None:
        """Say that the watcher lives, and ask when the next job is due; None while there is no connection."""
        conn = self._conn
        if conn is None or self._lost.is_set():
            return None
        try:
            return await self._see(conn)
        except _LOST:
            if self._conn is conn:
                self._lost.set()
            return None

    async def close(self) -> None:
        """Nobody is to notify for this watcher's sake any more."""
        if self._conn is not None and not self._lost.is_set():
            forget = statement(query("forget_watcher"), {"watcher": self._row["watcher"]})
            with suppress(*_LOST):
                async with asyncio.timeout(_GOODBYE_SECONDS):
                    await self._ask(self._conn, [forget])
        self._drop()

    async def _open(self) -> None:
        self._lost.clear()
        conn = await connect(self._url, timeout_seconds=_TRIP_SECONDS)
        try:
            listens = self._row["listens"] = not await self._pooled(conn)
            if listens:
                await self._ask(conn, [statement(query("listen_for_jobs"), {})])
            # Seen before it looks: what is enqueued from here on is notified, what was before is found by the look.
            await self._see(conn)
        except BaseException:
            self._read(None)
            conn.pgconn.finish()
            raise
        # Not sooner: a look on a connection that is being prepared would come between its trips.
        self._conn = conn
        if listens:
            self._tell("listening for jobs", level=logging.INFO)
        else:
            self._tell(
                "a watcher cannot listen through a pooler in transaction mode, and polls every"
                f" {self._row['every_seconds']:g} s: set CRONTICK_LISTEN_URL to the database's direct URL, or to the"
                " pooler's in session mode"
            )
        self._on_back()

    async def _beat(self) -> None:
        """Raises when the connection is lost."""
        while not self._lost.is_set():
            try:
                async with asyncio.timeout(BEAT_SECONDS):
                    await self._lost.wait()
            except TimeoutError:
                await self.look()
        raise psycopg.OperationalError("the connection was lost")

    async def _pooled(self, conn: psycopg.AsyncConnection[Any]) -> bool:
        """Whether each statement may meet another session. A pooler tells a process number of its own."""
        if await _process(conn) == conn.info.backend_pid:
            return False
        other = await connect(self._url, timeout_seconds=_TRIP_SECONDS)
        try:
            for _ in range(_LOOKS):
                if await _process(conn) == await _process(other):
                    return True
        finally:
            await other.close()
        return False

    async def _see(self, conn: psycopg.AsyncConnection[Any]) -> Seen:
        [[[at, next_due_at]]] = await self._ask(conn, [statement(query("see_watcher"), self._row)])
        return Seen(at, next_due_at)

    async def _ask(self, conn: psycopg.AsyncConnection[Any], segment: Segment) -> list[Any]:
        async with self._turn:
            self._read(None)
            [answer] = await trip(conn, [segment], timeout_seconds=_TRIP_SECONDS)
            self._hear(conn)
            self._read(conn)
        answer.check()
        return answer.rows

    def _read(self, conn: psycopg.AsyncConnection[Any] | None) -> None:
        """Hear what comes there from now on; None: nowhere. A socket is let go of before it is closed."""
        loop = asyncio.get_running_loop()
        if self._reading is not None:
            loop.remove_reader(self._reading)
        self._reading = None if conn is None else conn.fileno()
        if conn is not None:
            loop.add_reader(conn.fileno(), self._readable, conn)

    def _readable(self, conn: psycopg.AsyncConnection[Any]) -> None:
        try:
            conn.pgconn.consume_input()
            self._hear(conn)
        except psycopg.OperationalError:
            self._read(None)  # what is at its end can always be read
            self._lost.set()

    def _hear(self, conn: psycopg.AsyncConnection[Any]) -> None:
        heard = False
        while conn.pgconn.notifies() is not None:
            heard = True
        if heard:
            self._on_heard()

    def _drop(self) -> None:
        self._read(None)
        conn, self._conn = self._conn, None
        if conn is not None:
            conn.pgconn.finish()

    def _tell(self, sentence: str, *, level: int = logging.WARNING) -> None:
        """Once, however often it is found in a row."""
        if sentence != self._told:
            self._told = sentence
            log.log(level, "%s", sentence, extra={"fields": {"event": "watch_connection"}})


async def _process(conn: psycopg.AsyncConnection[Any]) -> int:
    """The number of the session that this statement meets."""
    [answer] = await trip(conn, [[statement(query("read_connection"), {})]], timeout_seconds=_TRIP_SECONDS)
    answer.check()
    return int(answer.rows[0][0][0])
