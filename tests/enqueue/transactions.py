"""A transaction of the application's own, open in each library that applications open them with."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import asyncpg
import django
import psycopg
import sqlalchemy as sa
from django.conf import settings
from django.db import connection, connections, transaction
from sqlalchemy import orm
from sqlalchemy.ext import asyncio as sa_async


@dataclass(frozen=True)
class Transaction:
    """``conn`` is what is passed to ``enqueue``; each of the others may be awaitable, and ``wait`` waits for it."""

    conn: Any
    run: Callable[[str], Any]
    commit: Callable[[], Any]
    rollback: Callable[[], Any]
    savepoint: Callable[[], Any]
    wait: Callable[[Any], Any] = lambda value: value

    def one(self, text: str) -> Any:
        """The first column of the first row of a statement of the application's own."""
        return self.wait(self.run(text))

    def nested(self) -> Callable[[], Any]:
        """Set a savepoint; what is returned rolls back to it."""
        undo = self.wait(self.savepoint())
        return lambda: self.wait(undo())


class OwnSession(orm.Session):
    """A session class of somebody's own, as SQLModel's is."""


def _sqlalchemy(url: str, driver: str) -> str:
    return url.replace("postgresql://", f"postgresql+{driver}://", 1)


@contextmanager
def _psycopg(url: str) -> Iterator[Transaction]:
    def savepoint() -> Callable[[], Any]:
        block = conn.transaction(force_rollback=True)
        block.__enter__()
        return lambda: block.__exit__(None, None, None)

    with psycopg.connect(url) as conn:
        yield Transaction(conn, lambda text: conn.execute(text.encode()), conn.commit, conn.rollback, savepoint)


@asynccontextmanager
async def _async_psycopg(url: str) -> AsyncIterator[Transaction]:
    async def savepoint() -> Callable[[], Any]:
        block = conn.transaction(force_rollback=True)
        await block.__aenter__()
        return lambda: block.__aexit__(None, None, None)

    async with await psycopg.AsyncConnection.connect(url) as conn:
        yield Transaction(conn, lambda text: conn.execute(text.encode()), conn.commit, conn.rollback, savepoint)


@contextmanager
def _engine(url: str, driver: str) -> Iterator[sa.Engine]:
    engine = sa.create_engine(_sqlalchemy(url, driver), poolclass=sa.NullPool)
    yield engine
    engine.dispose()


def _of_sqlalchemy(conn: Any) -> Transaction:
    """What SQLAlchemy's sessions and connections, sync and async, have in common."""

    def savepoint() -> Any:
        nested = conn.begin_nested()
        return _undo_later(nested) if inspect.isawaitable(nested) else nested.rollback

    return Transaction(conn, lambda text: conn.execute(sa.text(text)), conn.commit, conn.rollback, savepoint)


async def _undo_later(nested: Any) -> Callable[[], Any]:
    return (await nested).rollback  # type: ignore[no-any-return]


@contextmanager
def _connection(url: str, driver: str) -> Iterator[Transaction]:
    with _engine(url, driver) as engine, engine.connect() as conn:
        yield _of_sqlalchemy(conn)


@contextmanager
def _session(url: str, driver: str, of: type[orm.Session] = orm.Session) -> Iterator[Transaction]:
    with _engine(url, driver) as engine, of(engine) as session:
        yield _of_sqlalchemy(session)


@contextmanager
def _scoped_session(url: str, driver: str) -> Iterator[Transaction]:
    with _engine(url, driver) as engine:
        scoped = orm.scoped_session(orm.sessionmaker(engine))
        yield _of_sqlalchemy(scoped)
        scoped.remove()


@asynccontextmanager
async def _async_connection(url: str, driver: str) -> AsyncIterator[Transaction]:
    engine = sa_async.create_async_engine(_sqlalchemy(url, driver), poolclass=sa.NullPool)
    async with engine.connect() as conn:
        yield _of_sqlalchemy(conn)


@asynccontextmanager
async def _async_session(url: str, driver: str) -> AsyncIterator[Transaction]:
    engine = sa_async.create_async_engine(_sqlalchemy(url, driver), poolclass=sa.NullPool)
    async with sa_async.AsyncSession(engine) as session:
        yield _of_sqlalchemy(session)


@asynccontextmanager
async def _async_scoped_session(url: str, driver: str) -> AsyncIterator[Transaction]:
    engine = sa_async.create_async_engine(_sqlalchemy(url, driver), poolclass=sa.NullPool)
    scoped = sa_async.async_scoped_session(sa_async.async_sessionmaker(engine), scopefunc=lambda: 1)
    yield _of_sqlalchemy(scoped)
    await scoped.remove()


@asynccontextmanager
async def _asyncpg(url: str, *, pooled: bool = False) -> AsyncIterator[Transaction]:
    async def savepoint() -> Callable[[], Any]:
        nested = conn.transaction()
        await nested.start()
        return nested.rollback  # type: ignore[no-any-return]

    async with asyncpg.create_pool(url, min_size=1, max_size=1) as pool, pool.acquire() as taken:
        conn = taken if pooled else taken._con
        outer = conn.transaction()
        await outer.start()
        yield Transaction(conn, conn.fetchval, outer.commit, outer.rollback, savepoint)
        if not conn.is_closed() and conn.is_in_transaction():
            await outer.rollback()


def use_django(url: str) -> None:
    """Django's settings are made once in a process; its connections are to the database of the test."""
    parts = urlsplit(url)
    database = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.removeprefix("/"),
        "USER": parts.username,
        "HOST": dict(parse_qsl(parts.query)).get("host", parts.hostname or ""),
        "PORT": parts.port or "",
    }
    if not settings.configured:
        settings.configure(DATABASES={"default": dict(database), "other": dict(database)}, USE_TZ=True)
        django.setup()
    for alias in connections:
        connections[alias].close()
        connections[alias].settings_dict.update(database)


@contextmanager
def _django(url: str, alias: str, conn: Any) -> Iterator[Transaction]:
    use_django(url)

    def begin() -> Callable[..., None]:
        block = transaction.atomic(alias)
        block.__enter__()

        def end(*, roll_back: bool) -> None:
            if roll_back:
                transaction.set_rollback(True, alias)  # noqa: FBT003 (Django's own)
            block.__exit__(None, None, None)

        return end

    end = begin()

    def savepoint() -> Callable[[], Any]:
        return partial(begin(), roll_back=True)

    def run(text: str) -> Any:
        with connections[alias].cursor() as cursor:
            cursor.execute(text)
            return cursor.fetchone() if cursor.description else None

    yield Transaction(conn, run, partial(end, roll_back=False), partial(end, roll_back=True), savepoint)
    if connections[alias].in_atomic_block:
        end(roll_back=True)
    connections[alias].close()


LIBRARIES: dict[str, Callable[[str], Any]] = {
    "psycopg": _psycopg,
    "async psycopg": _async_psycopg,
    "sqlalchemy connection, psycopg": lambda url: _connection(url, "psycopg"),
    "sqlalchemy connection, psycopg2": lambda url: _connection(url, "psycopg2"),
    "sqlalchemy session, psycopg": lambda url: _session(url, "psycopg"),
    "sqlalchemy session, psycopg2": lambda url: _session(url, "psycopg2"),
    "sqlalchemy session's subclass": lambda url: _session(url, "psycopg", OwnSession),
    "sqlalchemy scoped_session": lambda url: _scoped_session(url, "psycopg"),
    "sqlalchemy async connection, psycopg": lambda url: _async_connection(url, "psycopg"),
    "sqlalchemy async connection, asyncpg": lambda url: _async_connection(url, "asyncpg"),
    "sqlalchemy async session, psycopg": lambda url: _async_session(url, "psycopg"),
    "sqlalchemy async session, asyncpg": lambda url: _async_session(url, "asyncpg"),
    "sqlalchemy async_scoped_session": lambda url: _async_scoped_session(url, "asyncpg"),
    "django.db.connection": lambda url: _django(url, "default", connection),
    "django.db.connections": lambda url: _django(url, "other", connections["other"]),
    "asyncpg": _asyncpg,
    "asyncpg's pool": lambda url: _asyncpg(url, pooled=True),
}


@contextmanager
def open_transaction(library: str, url: str) -> Iterator[Transaction]:
    """A transaction on the database, rolled back when left unless it was committed."""
    block = LIBRARIES[library](url)
    if not isinstance(block, AbstractAsyncContextManager):
        with block as begun:
            yield begun
        return
    with asyncio.Runner() as runner:

        def wait(value: Any) -> Any:
            return runner.run(_awaited(value)) if inspect.isawaitable(value) else value

        begun = wait(block.__aenter__())
        try:
            yield Transaction(begun.conn, begun.run, begun.commit, begun.rollback, begun.savepoint, wait)
        finally:
            wait(block.__aexit__(None, None, None))


async def _awaited(value: Any) -> Any:
    return await value
