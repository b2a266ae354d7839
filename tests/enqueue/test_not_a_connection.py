"""What is passed where a connection belongs is named, with what to pass instead, before anything is sent."""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import asyncpg
import psycopg
import psycopg2
import pytest
import sqlalchemy as sa
from django.db import connection, connections, transaction
from sqlalchemy import orm
from sqlalchemy.ext import asyncio as sa_async

from crontick.jobs import kind
from tests.enqueue.transactions import open_transaction, use_django


@kind("note")
async def note(payload: Any) -> None: ...


def entered(stack: ExitStack, block: AbstractContextManager[Any]) -> Any:
    return stack.enter_context(block)


def engine(url: str) -> sa.Engine:
    return sa.create_engine(url.replace("://", "+psycopg://"), poolclass=sa.NullPool)


def async_engine(url: str) -> sa_async.AsyncEngine:
    return sa_async.create_async_engine(url.replace("://", "+asyncpg://"), poolclass=sa.NullPool)


def raw_psycopg2(stack: ExitStack, url: str) -> Any:
    raw = psycopg2.connect(url)
    stack.callback(raw.close)
    return raw


def django_cursor(stack: ExitStack, url: str) -> Any:
    use_django(url)
    stack.callback(connection.close)
    return entered(stack, connection.cursor())


def unawaited(stack: ExitStack, url: str) -> Any:
    coroutine = psycopg.AsyncConnection.connect(url)
    stack.callback(coroutine.close)
    return coroutine


WRONG: dict[str, tuple[Callable[[ExitStack, str], Any], str]] = {
    "engine": (
        lambda _, url: engine(url),
        "an Engine has no transaction of yours: pass your session, or the conn of `with engine.begin() as conn`",
    ),
    "async engine": (
        lambda _, url: async_engine(url),
        "an AsyncEngine has no transaction of yours: pass your session, or the conn of `async with engine.begin()",
    ),
    "sessionmaker": (
        lambda _, url: orm.sessionmaker(engine(url)),
        "a sessionmaker makes sessions and is none: pass the session of `with Session() as session`",
    ),
    "async_sessionmaker": (
        lambda _, url: sa_async.async_sessionmaker(async_engine(url)),
        "an async_sessionmaker makes sessions and is none: pass the session of `async with Session() as session`",
    ),
    "session.begin()": (
        lambda stack, url: entered(stack, orm.Session(engine(url)).begin()),
        "a SessionTransaction is not a connection: pass the session that it belongs to",
    ),
    "conn.begin()": (
        lambda stack, url: entered(stack, entered(stack, engine(url).connect()).begin()),
        "a RootTransaction is not a connection: pass the connection that it belongs to",
    ),
    "engine.raw_connection()": (
        lambda stack, url: entered(stack, engine(url).connect()).connection,
        "a _ConnectionFairy is the driver's own connection: pass SQLAlchemy's, which it came from",
    ),
    "psycopg cursor": (
        lambda stack, url: entered(stack, entered(stack, psycopg.connect(url)).cursor()),
        "a Cursor is not a connection: pass the connection that it belongs to",
    ),
    "conn.transaction()": (
        lambda stack, url: entered(stack, entered(stack, psycopg.connect(url)).transaction()),
        "a Transaction is not a connection: pass the connection that it belongs to",
    ),
    "psycopg2 connection": (
        raw_psycopg2,
        "a connection is older than crontick's way to speak: pass a psycopg 3 connection, or run `select crontick.enq",
    ),
    "psycopg2 cursor": (
        lambda stack, url: entered(stack, raw_psycopg2(stack, url).cursor()),
        "a cursor is older than crontick's way to speak: pass a psycopg 3 connection",
    ),
    "asyncpg pool": (
        lambda *_: asyncpg.Pool.__new__(asyncpg.Pool),
        "a Pool has no transaction of yours: pass the conn of `async with pool.acquire() as conn`",
    ),
    "asyncpg transaction": (
        lambda *_: asyncpg.transaction.Transaction.__new__(asyncpg.transaction.Transaction),
        "a Transaction is not a connection: pass the connection that it belongs to",
    ),
    "django cursor": (django_cursor, "is not a connection: pass django.db.connection"),
    "django connections": (lambda *_: connections, 'holds several connections: pass one of them, connections["'),
    "transaction.atomic()": (
        lambda *_: transaction.atomic(),
        "an Atomic is not a connection: pass django.db.connection inside its block",
    ),
    "not awaited": (unawaited, "this coroutine was not awaited: pass the connection that it gives"),
    "class": (lambda *_: psycopg.Connection, "the class Connection is not a connection: pass a psycopg connection, a"),
    "URL": (lambda _, url: url, "a str is not a connection: pass a psycopg connection, a SQLAlchemy session or"),
    "None": (lambda *_: None, "builtins.NoneType is not a connection that crontick knows: pass a psycopg connection"),
    "sqlite": (
        lambda stack, _: entered(stack, sa.create_engine("sqlite://", poolclass=sa.NullPool).connect()),
        "this SQLAlchemy connection speaks sqlite through pysqlite: crontick's jobs are in PostgreSQL, reached through",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_connection_is_named_with_the_mend(raw_database: str, name: str) -> None:
    make, said = WRONG[name]
    with ExitStack() as stack:
        with pytest.raises(TypeError) as caught:
            note.enqueue(make(stack, raw_database), {})
    assert said in str(caught.value)


@pytest.mark.parametrize("library", ["psycopg", "async psycopg", "sqlalchemy connection, psycopg"])
def test_a_connection_that_was_closed_is_told_so(database: str, library: str) -> None:
    with open_transaction(library, database) as begun:
        begun.wait(begun.conn.close())
        with pytest.raises(TypeError, match=r"Connection is closed: enqueue before its block is left"):
            begun.wait(note.enqueue(begun.conn, {}))


@pytest.mark.parametrize(
    ("library", "error"),
    [
        ("psycopg", psycopg.OperationalError),
        ("sqlalchemy session, psycopg", sa.exc.SQLAlchemyError),
        ("asyncpg", (asyncpg.PostgresConnectionError, asyncpg.InterfaceError)),
    ],
)
def test_a_connection_that_broke_raises_the_driver_s_own_error(
    database: str, sync_conn: psycopg.Connection[Any], library: str, error: Any
) -> None:
    with open_transaction(library, database) as begun:
        begun.one("select 1")
        sync_conn.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where pid <> pg_backend_pid() and datname = current_database()"
        )
        for _ in range(2):  # found broken, and known to be
            with pytest.raises(error):
                begun.wait(note.enqueue(begun.conn, {}))
