"""The few connections that functions may borrow, opened when first asked for and closed with the tick."""

import asyncio
from types import TracebackType
from typing import Any, Protocol

import psycopg

from crontick.jobs.connect import connect
from crontick.jobs.context import Context

__all__ = ["Lender", "Lends", "Lent"]


class Lends(Protocol):
    """Who lends: connections of the tick's own, or the caller's."""

    async def take(self) -> psycopg.AsyncConnection[Any]:
        """A connection, once there is room."""
        ...

    async def give_back(self, conn: psycopg.AsyncConnection[Any]) -> None:
        """What was not committed on it is rolled back."""
        ...

    def take_in_thread(self, ctx: Context) -> psycopg.Connection[Any]:
        """The same for a sync function, where it runs."""
        ...

    def give_back_in_thread(self, ctx: Context, conn: psycopg.Connection[Any], error: BaseException | None) -> None:
        """Commit, or, after an error, roll back."""
        ...

    async def close(self) -> None:
        """Nothing is lent any more."""
        ...


class Lender:
    """At most ``most`` connections at one time; those that come back clean are lent again within the tick."""

    def __init__(self, url: str, most: int) -> None:
        self._url = url
        self._room = asyncio.Semaphore(most)
        self._idle: list[psycopg.AsyncConnection[Any]] = []
        self._most = most

    async def take(self) -> psycopg.AsyncConnection[Any]:
        """One of them, once there is room."""
        self._refuse_none()
        await self._room.acquire()
        try:
            if self._idle:
                return self._idle.pop()
            return await connect(self._url, timeout_seconds=10)
        except BaseException:
            self._room.release()
            raise

    async def give_back(self, conn: psycopg.AsyncConnection[Any]) -> None:
        """Roll back what was not committed; a connection that cannot be is closed."""
        try:
            if not conn.closed and conn.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
                self._idle.append(conn)
            else:
                await conn.close()
        finally:
            self._room.release()

    def take_in_thread(self, ctx: Context) -> psycopg.Connection[Any]:
        """A new one, for a sync function."""
        self._refuse_none()
        ctx.wait(self._room.acquire())
        try:
            ctx.check_lease()
            return psycopg.connect(self._url, prepare_threshold=None, connect_timeout=10)
        except BaseException:
            ctx.loop.call_soon_threadsafe(self._room.release)
            raise

    def give_back_in_thread(self, ctx: Context, conn: psycopg.Connection[Any], error: BaseException | None) -> None:
        """Commit, or, after an error, roll back; and close."""
        try:
            with conn:
                if error is not None:
                    conn.rollback()
        finally:
            ctx.loop.call_soon_threadsafe(self._room.release)

    async def close(self) -> None:
        """Close those that are idle; what is lent is closed as it comes back."""
        for conn in self._idle:
            await conn.close()
        self._idle.clear()

    def _refuse_none(self) -> None:
        if self._most == 0:
            raise RuntimeError("CRONTICK_DB_CONNECTIONS is 0: functions may borrow no connection; set it to 1 or more")


class Lent:
    """``async with ctx.db() as conn``: a transaction of one's own choosing on an autocommit connection.

    In a sync function ``with ctx.db() as conn`` gives a ``psycopg.Connection`` that commits when left normally.
    """

    __slots__ = ("_conn", "_ctx", "_lender", "_sync")

    def __init__(self, lender: Lends, ctx: Context) -> None:
        self._lender = lender
        self._ctx = ctx
        self._conn: psycopg.AsyncConnection[Any] | None = None
        self._sync: psycopg.Connection[Any] | None = None

    async def __aenter__(self) -> psycopg.AsyncConnection[Any]:
        self._conn = await self._lender.take()
        return self._conn

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._conn is not None:
            await self._lender.give_back(self._conn)

    def __enter__(self) -> psycopg.Connection[Any]:
        self._sync = self._lender.take_in_thread(self._ctx)
        return self._sync

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._sync is not None:
            self._lender.give_back_in_thread(self._ctx, self._sync, error)
