"""The few connections that functions may borrow, opened when first asked for and closed with the tick."""

import asyncio
from types import TracebackType
from typing import Any

import psycopg

from crontick.jobs.context import Context
from crontick.sql.connect import connect

__all__ = ["Lender", "Lent"]


class Lender:
    """At most ``most`` connections at one time; those that come back clean are lent again within the tick."""

    def __init__(self, url: str, most: int) -> None:
        self.url = url
        self.room = asyncio.Semaphore(most)
        self._idle: list[psycopg.AsyncConnection[Any]] = []
        self.most = most

    async def take(self) -> psycopg.AsyncConnection[Any]:
        """One of them, once there is room."""
        await self.room.acquire()
        try:
            if self._idle:
                return self._idle.pop()
            return await connect(self.url, timeout_seconds=10)
        except BaseException:
            self.room.release()
            raise

    async def give_back(self, conn: psycopg.AsyncConnection[Any]) -> None:
        """Roll back what was not committed; a connection that cannot be is closed."""
        try:
            if not conn.closed and conn.info.transaction_status == psycopg.pq.TransactionStatus.IDLE:
                self._idle.append(conn)
            else:
                await conn.close()
        finally:
            self.room.release()

    async def close(self) -> None:
        """Close those that are idle; what is lent is closed as it comes back."""
        for conn in self._idle:
            await conn.close()
        self._idle.clear()


class Lent:
    """``async with ctx.db() as conn``: a transaction of one's own choosing on an autocommit connection.

    In a sync function ``with ctx.db() as conn`` gives a ``psycopg.Connection`` that commits when left normally.
    """

    __slots__ = ("_conn", "_ctx", "_lender", "_sync")

    def __init__(self, lender: Lender, ctx: Context) -> None:
        if lender.most == 0:
            raise RuntimeError("CRONTICK_DB_CONNECTIONS is 0: functions may borrow no connection; set it to 1 or more")
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
        asyncio.run_coroutine_threadsafe(self._lender.room.acquire(), self._ctx.loop).result()
        try:
            self._ctx.check_lease()
            self._sync = psycopg.connect(self._lender.url, prepare_threshold=None, connect_timeout=10)
        except BaseException:
            self._ctx.loop.call_soon_threadsafe(self._lender.room.release)
            raise
        return self._sync

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._sync is not None:
                with self._sync:  # psycopg: commit when left normally, roll back otherwise, close
                    if error is not None:
                        self._sync.rollback()
        finally:
            self._ctx.loop.call_soon_threadsafe(self._lender.room.release)
