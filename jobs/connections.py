"""The connections that ``enqueue`` takes, as types that need none of their libraries."""

from collections.abc import Awaitable
from typing import Any, Protocol, TypeAlias

import psycopg

__all__ = ["AsyncCallersConnection", "CallersConnection"]


class _Result(Protocol):
    """SQLAlchemy's: what tells a connection whose ``exec_driver_sql`` is to be awaited from one that answers."""

    def scalar_one(self) -> Any: ...


class _SqlAlchemyConnection(Protocol):
    def exec_driver_sql(self, statement: str, /) -> _Result: ...


class _AsyncSqlAlchemyConnection(Protocol):
    def exec_driver_sql(self, statement: str, /) -> Awaitable[_Result]: ...


class _Session(Protocol):
    """SQLAlchemy's ``Session`` and ``scoped_session``, and what SQLModel and Flask-SQLAlchemy make of them.

    Its ``connection`` alone does not tell it: that of an ``AsyncConnection`` returns never, which fits everything.
    """

    def connection(self) -> _SqlAlchemyConnection: ...
    def flush(self) -> None: ...


class _AsyncSession(Protocol):
    def connection(self) -> Awaitable[_AsyncSqlAlchemyConnection]: ...


class _DjangoConnection(Protocol):
    """``django.db.connection``, and each of ``django.db.connections``."""

    def ensure_connection(self) -> None: ...
    def cursor(self) -> Any: ...


class _AsyncpgConnection(Protocol):
    """Not its pool, which has ``fetch`` too."""

    def fetch(self, query: str, /, *args: Any) -> Awaitable[list[Any]]: ...
    def is_in_transaction(self) -> bool: ...


class _AsyncpgPoolsConnection(Protocol):
    """What a pool lends: its methods are made at run time, so that its two attributes are all a type checker sees."""

    _con: Any
    _holder: Any


CallersConnection: TypeAlias = psycopg.Connection[Any] | _SqlAlchemyConnection | _Session | _DjangoConnection
AsyncCallersConnection: TypeAlias = (
    psycopg.AsyncConnection[Any]
    | _AsyncSqlAlchemyConnection
    | _AsyncSession
    | _AsyncpgConnection
    | _AsyncpgPoolsConnection
)
