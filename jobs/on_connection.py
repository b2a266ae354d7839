"""Run a statement on somebody else's connection, in the transaction that is open there."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import psycopg
from psycopg.rows import tuple_row

from crontick.sql import Query

__all__ = ["execute", "is_async", "library_name"]

T = TypeVar("T")
Values: TypeAlias = Mapping[str, Any]
Read: TypeAlias = Callable[[Sequence[Any]], T]
"""What a caller is given of the rows."""


def execute(conn: Any, statement: Query, values: Values, read: Read[Any]) -> Any:
    """What ``read`` makes of the rows; an awaitable of it on an async connection.

    A connection is known by the names of its classes: no library is imported for it. Raises ``TypeError`` for all that
    is not a connection, or not one to PostgreSQL.
    """
    return _way(conn)(conn, statement, values, read)


def is_async(conn: Any) -> bool:
    """Whether what ``execute`` returns is to be awaited. Raises as it does."""
    return inspect.iscoroutinefunction(_way(conn))


def _way(conn: Any) -> Callable[..., Any]:
    for cls in type(conn).__mro__:
        if way := _WAYS.get(library_name(cls)):
            return way
    from crontick.jobs.not_a_connection import refusal

    raise TypeError(refusal(conn))


def library_name(cls: type) -> str:
    """``sqlalchemy.Session``: the module between differs from release to release."""
    return f"{cls.__module__.partition('.')[0]}.{cls.__name__}"


def _on_psycopg(conn: psycopg.Connection[Any], statement: Query, values: Values, read: Read[T]) -> T:
    _refuse_left(conn, closed=conn.closed and not conn.broken)
    cursor = conn.cursor(row_factory=tuple_row).execute(statement.text.encode(), values)
    return read(cursor.fetchall() if cursor.description else ())


async def _on_async_psycopg(conn: psycopg.AsyncConnection[Any], statement: Query, values: Values, read: Read[T]) -> T:
    _refuse_left(conn, closed=conn.closed and not conn.broken)
    cursor = await conn.cursor(row_factory=tuple_row).execute(statement.text.encode(), values)
    return read(await cursor.fetchall() if cursor.description else ())


def _on_sqlalchemy(conn: Any, statement: Query, values: Values, read: Read[T]) -> T:
    _refuse_left(conn, closed=conn.closed)
    result = conn.exec_driver_sql(*_for_driver(conn.dialect, statement, values))
    return read(result.fetchall() if result.returns_rows else ())


async def _on_async_sqlalchemy(conn: Any, statement: Query, values: Values, read: Read[T]) -> T:
    _refuse_left(conn, closed=conn.closed)
    result = await conn.exec_driver_sql(*_for_driver(conn.dialect, statement, values))
    return read(result.fetchall() if result.returns_rows else ())


def _on_session(session: Any, statement: Query, values: Values, read: Read[T]) -> T:
    return _on_sqlalchemy(session.connection(), statement, values, read)


async def _on_async_session(session: Any, statement: Query, values: Values, read: Read[T]) -> T:
    return await _on_async_sqlalchemy(await session.connection(), statement, values, read)


def _on_django(conn: Any, statement: Query, values: Values, read: Read[T]) -> T:
    if conn.vendor != "postgresql":
        raise TypeError(f'this Django connection speaks {conn.vendor}: pass connections["…"] of the PostgreSQL')
    with conn.cursor() as cursor:
        cursor.execute(statement.text, values)
        return read(cursor.fetchall() if cursor.description else ())


async def _on_asyncpg(conn: Any, statement: Query, values: Values, read: Read[T]) -> T:
    return read(await conn.fetch(*_numbered(statement, values)))


_WAYS: Final[dict[str, Callable[..., Any]]] = {
    "asyncpg.Connection": _on_asyncpg,
    "asyncpg.PoolConnectionProxy": _on_asyncpg,
    "django.BaseDatabaseWrapper": _on_django,
    "django.ConnectionProxy": _on_django,
    "psycopg.AsyncConnection": _on_async_psycopg,
    "psycopg.Connection": _on_psycopg,
    "sqlalchemy.AsyncConnection": _on_async_sqlalchemy,
    "sqlalchemy.AsyncSession": _on_async_session,
    "sqlalchemy.Connection": _on_sqlalchemy,
    "sqlalchemy.Session": _on_session,
    "sqlalchemy.async_scoped_session": _on_async_session,
    "sqlalchemy.scoped_session": _on_session,
}


def _for_driver(dialect: Any, statement: Query, values: Values) -> tuple[str, Any]:
    """What SQLAlchemy hands to its driver as it is."""
    match dialect.name, dialect.driver:
        case "postgresql", "psycopg" | "psycopg_async" | "psycopg2":
            return statement.text, dict(values)
        case "postgresql", "asyncpg":
            text, *numbered = _numbered(statement, values)
            return text, tuple(numbered)
    raise TypeError(
        f"this SQLAlchemy connection speaks {dialect.name} through {dialect.driver}: crontick's jobs are in "
        "PostgreSQL, reached through psycopg, psycopg2 or asyncpg"
    )


def _numbered(statement: Query, values: Values) -> tuple[Any, ...]:
    return statement.wire.decode(), *(values[name] for name in statement.names)


def _refuse_left(conn: Any, *, closed: bool) -> None:
    """A connection that broke is for the driver to tell: programs catch its error, and try again."""
    if closed:
        from crontick.jobs.not_a_connection import closed_refusal

        raise TypeError(closed_refusal(conn))
