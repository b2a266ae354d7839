"""The tick's connection: one round trip at a time, and a reconnect with a repeat when an answer was lost."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import psycopg

from crontick.jobs.connect import connect
from crontick.jobs.unavailable import refused_login
from crontick.sql.wire import Answer, Segment, trip

__all__ = ["Build", "Link", "Trips", "transient"]

_TRIP_SECONDS: Final = 15.0
_KEPT_TRIP_SECONDS: Final = 3.0
"""A connection that was kept may have died in silence, for example while the process was frozen."""
_AT_LEAST_SECONDS: Final = 0.5
"""What an exchange is given past the deadline: how attempts ended is worth writing down while the lease holds."""
_TRANSIENT: Final = frozenset({"40001", "40P01", "55P03", "57014", "25P02"})
"""Serialisation failure, deadlock, lock and statement time-outs: rolled back whole, and as good as not sent (P2)."""


class Build(Protocol):
    """Makes the segments of a trip. ``repeat``: they may have happened already, and are known by their numbers (P1)."""

    def __call__(self, *, repeat: bool) -> Sequence[Segment]:
        """They are built anew for each try."""
        ...


class Trips(Protocol):
    """What carries segments to the database, and their answers back: a link, or the caller's connection."""

    @property
    def trip_seconds(self) -> float:
        """How long the last one took."""
        ...

    async def ask(self, build: Build, *, patience_seconds: float | None = None, ours: int = 1) -> list[Answer]:
        """The answers, one a segment."""
        ...

    async def tell(self, segments: Sequence[Segment], *, ours: int = 1) -> list[Answer]:
        """``ask`` for what may be said twice without harm."""
        ...


class Link:
    """Opened when first used. ``left`` says how many seconds the tick has."""

    def __init__(self, url: str, left: Callable[[], float], conn: psycopg.AsyncConnection[Any] | None = None) -> None:
        self._url = url
        self._left = left
        self._conn = conn
        self._connecting: asyncio.Task[psycopg.AsyncConnection[Any]] | None = None
        self._proven = conn is None
        self._turn = asyncio.Lock()
        self.trip_seconds = 0.0

    async def begin(self) -> None:
        """Begin to connect, where that is needed, and come back: the first trip waits for it, and meets its errors."""
        if self._conn is None:
            seconds = max(self._left(), _AT_LEAST_SECONDS)
            self._connecting = asyncio.create_task(connect(self._url, timeout_seconds=seconds))
            try:
                await asyncio.sleep(0)  # it runs until it has to wait for the server
            except asyncio.CancelledError:
                self._give_up()
                raise

    async def ask(self, build: Build, *, patience_seconds: float | None = None, ours: int = 1) -> list[Answer]:
        """Send what is built, and again on a new connection when the answer was lost, while time is left.

        The first ``ours`` segments are crontick's own and sent again after a transient error; the others are a user's
        queries, whose time-outs and errors are only told.

        Raises the last ``psycopg.OperationalError``, ``OSError`` or ``TimeoutError`` when the patience is over.
        """
        until = time.monotonic() + (
            max(self._left(), _AT_LEAST_SECONDS) if patience_seconds is None else patience_seconds
        )
        repeat, pause = False, 0.05
        while True:
            try:
                async with self._turn:
                    answers = await self._trip(build(repeat=repeat), until)
            except (psycopg.OperationalError, OSError, TimeoutError) as error:
                self.drop()
                repeat = True
                if refused_login(error) is not None or time.monotonic() + pause >= until:
                    raise
            else:
                if not any(transient(answer.error) for answer in answers[:ours]) or time.monotonic() + pause >= until:
                    return answers
            await asyncio.sleep(random.uniform(pause / 2, pause))  # noqa: S311 (no secret)
            pause = min(pause * 2, 1.0)

    async def tell(self, segments: Sequence[Segment], *, ours: int = 1) -> list[Answer]:
        """``ask`` for what may be said twice without harm."""

        def build(*, repeat: bool) -> Sequence[Segment]:  # noqa: ARG001 (it makes no difference)
            return segments

        return await self.ask(build, ours=ours)

    async def _trip(self, segments: Sequence[Segment], until: float) -> list[Answer]:
        if self._conn is None:
            self._conn = await self._connected(max(until - time.monotonic(), 0.1))
        started = time.monotonic()
        longest = _TRIP_SECONDS if self._proven else _KEPT_TRIP_SECONDS
        answers = await trip(self._conn, segments, timeout_seconds=min(max(until - started, 0.1), longest))
        self._proven = True
        self.trip_seconds = time.monotonic() - started
        return answers

    async def _connected(self, timeout_seconds: float) -> psycopg.AsyncConnection[Any]:
        if self._connecting is None:
            return await connect(self._url, timeout_seconds=timeout_seconds)
        connecting, self._connecting = self._connecting, None
        async with asyncio.timeout(timeout_seconds):
            return await connecting

    def drop(self) -> None:
        """Forget a connection whose state nobody knows."""
        self._proven = True
        self._give_up()
        if self._conn is not None:
            self._conn.pgconn.finish()
            self._conn = None

    def take(self) -> psycopg.AsyncConnection[Any] | None:
        """The connection, to be kept for the next tick; the link has none afterwards."""
        self._give_up()
        conn, self._conn = self._conn, None
        return conn

    async def close(self) -> None:
        """Say goodbye to the database."""
        self._give_up()
        if self._conn is not None:
            conn, self._conn = self._conn, None
            await conn.close()

    def _give_up(self) -> None:
        """A connection that was begun and that no trip has asked for."""
        if self._connecting is not None:
            connecting, self._connecting = self._connecting, None
            connecting.add_done_callback(_finish)
            connecting.cancel()


def _finish(connecting: asyncio.Task[psycopg.AsyncConnection[Any]]) -> None:
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().pgconn.finish()


def transient(error: psycopg.Error | None) -> bool:
    """Whether the same statements may well work in a moment."""
    return error is not None and error.sqlstate in _TRANSIENT
