"""What to say when something else is passed where a connection belongs."""

import inspect
from typing import Any, Final

from crontick.jobs.on_connection import library_name

__all__ = ["closed_refusal", "refusal"]

_KNOWN: Final = (
    "pass a psycopg connection, a SQLAlchemy session or connection, django.db.connection or an asyncpg connection"
)
_POOL: Final = "has no transaction of yours: pass the conn of `{}`"
_MAKER: Final = "makes sessions and is none: pass the session of `{}`"
_ON: Final = "is not a connection: pass the {} that it belongs to"
_MENDS: Final = {
    "asyncpg.Pool": _POOL.format("async with pool.acquire() as conn"),
    "asyncpg.Transaction": _ON.format("connection"),
    "django.Atomic": "is not a connection: pass django.db.connection inside its block",
    "django.BaseConnectionHandler": 'holds several connections: pass one of them, connections["default"]',
    "django.CursorWrapper": "is not a connection: pass django.db.connection",
    "psycopg.AsyncTransaction": _ON.format("connection"),
    "psycopg.BaseCursor": _ON.format("connection"),
    "psycopg.Transaction": _ON.format("connection"),
    "psycopg2.connection": "is older than crontick's way to speak: pass a psycopg 3 connection, or run "
    "`select crontick.enqueue(…)` on this one",
    "psycopg2.cursor": "is older than crontick's way to speak: pass a psycopg 3 connection, or run "
    "`select crontick.enqueue(…)` on this one",
    "psycopg_pool.AsyncConnectionPool": _POOL.format("async with pool.connection() as conn"),
    "psycopg_pool.ConnectionPool": _POOL.format("with pool.connection() as conn"),
    "sqlalchemy.AsyncEngine": "has no transaction of yours: pass your session, or the conn of "
    "`async with engine.begin() as conn`",
    "sqlalchemy.AsyncSessionTransaction": _ON.format("session"),
    "sqlalchemy.AsyncTransaction": _ON.format("connection"),
    "sqlalchemy.Engine": "has no transaction of yours: pass your session, or the conn of `with engine.begin() as conn`",
    "sqlalchemy.PoolProxiedConnection": "is the driver's own connection: pass SQLAlchemy's, which it came from",
    "sqlalchemy.SessionTransaction": _ON.format("session"),
    "sqlalchemy.Transaction": _ON.format("connection"),
    "sqlalchemy.async_sessionmaker": _MAKER.format("async with Session() as session"),
    "sqlalchemy.sessionmaker": _MAKER.format("with Session() as session"),
}


def refusal(given: Any) -> str:
    """The thing's name, and what to pass in its place."""
    if inspect.isclass(given):
        return f"the class {given.__qualname__} is not a connection: {_KNOWN}"
    if isinstance(given, str):  # most likely a URL with a password in it
        return f"a str is not a connection: {_KNOWN}"
    for cls in type(given).__mro__:
        if mend := _MENDS.get(library_name(cls)):
            return f"{_article(type(given).__name__)} {mend}"
    if inspect.isawaitable(given):
        return f"this {type(given).__name__} was not awaited: pass the connection that it gives"
    return f"{type(given).__module__}.{type(given).__qualname__} is not a connection that crontick knows: {_KNOWN}"


def closed_refusal(conn: Any) -> str:
    """A connection, used after its end."""
    return (
        f"this {type(conn).__module__}.{type(conn).__qualname__} is closed: enqueue before its block is left, "
        "in the transaction that the job belongs to"
    )


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
