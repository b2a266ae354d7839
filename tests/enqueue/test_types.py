"""What a type checker knows of ``enqueue``: mypy reads this file, and the assertions here are its."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_type

import psycopg
from sqlalchemy import Connection, Engine
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, async_scoped_session
from sqlalchemy.orm import Session, scoped_session

from crontick.jobs import Context, Kind, kind


@dataclass(frozen=True)
class Receipt:
    """A payload with a type."""

    order: int


@kind("receipt")
async def receipt(payload: Receipt, ctx: Context) -> None: ...


@kind("plain")
def plain(payload: Receipt) -> None: ...


class DjangoConnection:
    """As django-stubs tell it."""

    vendor: str

    def ensure_connection(self) -> None: ...
    def cursor(self) -> Any: ...


class AsyncpgConnection:
    """As asyncpg-stubs tell it."""

    async def fetch(self, query: str, *args: object, record_class: object = None) -> list[Any]:
        raise NotImplementedError(query, args, record_class)

    def is_in_transaction(self) -> bool: ...  # type: ignore[empty-body]


class AsyncpgPoolsConnection:
    """As asyncpg's own source tells it: without a method."""

    def __init__(self, holder: object, con: object) -> None:
        self._holder = holder
        self._con = con


class AsyncpgPool:
    """It has ``fetch``, and no transaction."""

    async def fetch(self, query: str, *args: object) -> list[Any]:
        raise NotImplementedError(query, args)


if TYPE_CHECKING:
    assert_type(receipt, Kind[Receipt])
    assert_type(plain, Kind[Receipt])

    def on_a_sync_connection(
        conn: psycopg.Connection[Any],
        session: Session,
        scoped: scoped_session[Session],
        connection: Connection,
        django: DjangoConnection,
    ) -> None:
        assert_type(receipt.enqueue(conn, Receipt(1)), int)
        assert_type(receipt.enqueue(session, Receipt(1)), int)
        assert_type(receipt.enqueue(scoped, Receipt(1)), int)
        assert_type(receipt.enqueue(connection, Receipt(1)), int)
        assert_type(receipt.enqueue(django, Receipt(1)), int)
        assert_type(receipt.enqueue_many(session, [Receipt(1)]), list[int])

    def on_an_async_connection(
        conn: psycopg.AsyncConnection[Any],
        session: AsyncSession,
        scoped: async_scoped_session[AsyncSession],
        connection: AsyncConnection,
        of_asyncpg: AsyncpgConnection,
        of_its_pool: AsyncpgPoolsConnection,
    ) -> None:
        assert_type(receipt.enqueue(conn, Receipt(1)), Awaitable[int])
        assert_type(receipt.enqueue(session, Receipt(1)), Awaitable[int])
        assert_type(receipt.enqueue(scoped, Receipt(1)), Awaitable[int])
        assert_type(receipt.enqueue(connection, Receipt(1)), Awaitable[int])
        assert_type(receipt.enqueue(of_asyncpg, Receipt(1)), Awaitable[int])
        assert_type(receipt.enqueue(of_its_pool, Receipt(1)), Awaitable[int])
        assert_type(receipt.enqueue_many(session, [Receipt(1)]), Awaitable[list[int]])

    def of_what_is_wrong(session: Session, engine: Engine, async_engine: AsyncEngine, pool: AsyncpgPool) -> None:
        receipt.enqueue(engine, Receipt(1))  # type: ignore[call-overload]
        receipt.enqueue(async_engine, Receipt(1))  # type: ignore[call-overload]
        receipt.enqueue(pool, Receipt(1))  # type: ignore[call-overload]
        receipt.enqueue(session, {"order": 1})  # type: ignore[call-overload]
        receipt.enqueue(session, Receipt(1), unique_ky="receipt:1")  # type: ignore[call-overload]
        receipt.enqueue(session, Receipt(1), run_at="tomorrow")  # type: ignore[call-overload]


def test_a_kind_is_still_its_function() -> None:
    assert plain(Receipt(1)) is None
