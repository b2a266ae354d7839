"""``ctx.db()`` in a test: the test's own connection, where commit and rollback reach back to a savepoint only."""

import inspect
from typing import Any, Final

import psycopg
from psycopg import pq

from crontick.jobs.context import Context
from crontick.jobs.testing.place import Place

__all__ = ["BorrowedLender"]

_SAVEPOINT: Final = b"savepoint crontick_lent"
_RELEASE: Final = b"release savepoint crontick_lent"
_ROLL_BACK: Final = b"rollback to savepoint crontick_lent"


class _Sync(psycopg.Connection[Any]):
    """The test's connection once more, with the defaults of those that a tick lends; it is not its to close."""

    def __del__(self, _warn: Any = None, /) -> None:
        """Nothing was opened."""

    def close(self) -> None:
        """Whose it is closes it."""

    def commit(self) -> None:
        """What was done stays, as far as the test's transaction does."""
        if self.info.transaction_status == pq.TransactionStatus.INERROR:
            self.rollback()
        else:
            self.execute(_RELEASE)
            self.execute(_SAVEPOINT)

    def rollback(self) -> None:
        """What was done since the last commit goes."""
        self.execute(_ROLL_BACK)


class _Async(psycopg.AsyncConnection[Any]):
    """The same for async functions, which are lent a connection in autocommit mode: there is nothing to commit."""

    def __del__(self, _warn: Any = None, /) -> None:
        """Nothing was opened."""

    async def close(self) -> None:
        """Whose it is closes it."""

    async def commit(self) -> None:
        """Each statement was, as far as the test's transaction is."""

    async def rollback(self) -> None:
        """There is nothing to roll back."""


class BorrowedLender:
    """Lends what a test passed. A psycopg connection can be lent to sync and async functions alike."""

    def __init__(self, conn: Any, place: Place) -> None:
        self._conn = conn
        self._place = place
        self._handlers: list[tuple[Any, Any]] = []

    async def take(self) -> psycopg.AsyncConnection[Any]:
        """For an async function."""
        lent = _Async(self._borrowed(await self._place.speak(_driver_connection(self._conn))))
        lent.prepare_threshold = None
        await lent.execute(_SAVEPOINT)
        return lent

    async def give_back(self, conn: psycopg.AsyncConnection[Any]) -> None:
        """After an error of the database all goes that was done on it; else all stays."""
        if conn.info.transaction_status == pq.TransactionStatus.INERROR:
            await conn.execute(_ROLL_BACK)
        await conn.execute(_RELEASE)
        self._returned(conn.pgconn)

    def take_in_thread(self, ctx: Context) -> psycopg.Connection[Any]:
        """For a sync function."""
        lent = _Sync(self._borrowed(ctx.wait(self._place.speak(_driver_connection(self._conn)))))
        lent.prepare_threshold = None
        lent.execute(_SAVEPOINT)
        return lent

    def give_back_in_thread(self, ctx: Context, conn: psycopg.Connection[Any], error: BaseException | None) -> None:  # noqa: ARG002
        """Commit, or, after an error, roll back."""
        if error is not None or conn.info.transaction_status == pq.TransactionStatus.INERROR:
            conn.execute(_ROLL_BACK)
        conn.execute(_RELEASE)
        self._returned(conn.pgconn)

    async def close(self) -> None:
        """Nothing is its own."""

    def _borrowed(self, driver: Any) -> pq.abc.PGconn:
        if not isinstance(driver, psycopg.Connection | psycopg.AsyncConnection):
            raise TypeError(
                f"ctx.db() lends psycopg connections, and the test's driver is {type(driver).__module__}:"
                " drain on a connection whose driver is psycopg, for example postgresql+psycopg://"
            )
        pgconn = driver.pgconn
        self._handlers.append((pgconn.notice_handler, pgconn.notify_handler))
        return pgconn

    def _returned(self, pgconn: pq.abc.PGconn) -> None:
        pgconn.notice_handler, pgconn.notify_handler = self._handlers.pop()


async def _driver_connection(conn: Any) -> Any:
    """The driver's own, below a session, SQLAlchemy's connection or Django's."""
    if not hasattr(conn, "get_raw_connection") and callable(getattr(conn, "connection", None)):
        conn = conn.connection()
        conn = await conn if inspect.isawaitable(conn) else conn
    if hasattr(conn, "get_raw_connection"):
        below = await conn.get_raw_connection()
    else:
        below = getattr(conn, "connection", conn)
    return getattr(below, "driver_connection", below)
