"""Say something to the database on the test's own connection, written once for sync and async ones."""

import inspect
import re
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, Final, TypeVar

import psycopg

from crontick.jobs.on_connection import execute, is_async
from crontick.jobs.placeholders import outside_literals
from crontick.sql import Query, query
from crontick.sql.wire import Statement, statement

__all__ = ["as_psycopg", "ask", "finished", "held", "say", "say_statement"]

T = TypeVar("T")
_NUMBERED: Final = re.compile(r"\$(\d+)")


def held(conn: Any, coroutine: Coroutine[Any, Any, T]) -> Any:
    """On an async connection the coroutine, to be awaited; on a sync one what it ends with, here and now."""
    return coroutine if is_async(conn) else finished(coroutine)


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine ends with that speaks on a sync connection, and so never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    raise AssertionError("a coroutine that waits was given a sync connection")


async def say(conn: Any, text: str) -> Sequence[Any]:
    """The rows of a statement without parameters."""
    asked = Query("said", text.replace("%", "%%"), text.encode(), ())
    answer = execute(conn, asked, {}, list)
    rows: Sequence[Any] = await answer if inspect.isawaitable(answer) else answer
    return rows


async def say_statement(conn: Any, told: Statement) -> list[tuple[Any, ...]]:
    """The rows of a statement that was made for the wire: its values are put in as literals, for any driver alike."""
    return [tuple(row) for row in await say(conn, _spelt(*told))]


async def ask(conn: Any, name: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
    """The rows of a query by its name."""
    return await say_statement(conn, statement(query(name), values or {}))


def as_psycopg(error: BaseException) -> psycopg.Error:
    """The database's error, whichever driver raised it, as the engine knows it; any other error is raised."""
    raised: BaseException | None = error
    while raised is not None:
        if isinstance(raised, psycopg.Error):
            return raised
        state = getattr(raised, "sqlstate", None) or getattr(raised, "pgcode", None)
        if isinstance(state, str):
            told = psycopg.DatabaseError(str(raised))
            told.sqlstate = state
            return told
        raised = getattr(raised, "orig", None) or raised.__cause__
    raise error


def _spelt(text: bytes, values: Sequence[bytes | None]) -> str:
    def literal(match: re.Match[str]) -> str:
        return _literal(values[int(match[1]) - 1])

    return outside_literals(text.decode(), lambda part: _NUMBERED.sub(literal, part))


def _literal(value: bytes | None) -> str:
    """Of no type, as a parameter on the wire is: what it is for decides."""
    if value is None:
        return "null"
    quoted = value.decode().replace("'", "''")
    return f" E'{quoted.replace(chr(92), chr(92) * 2)}'" if "\\" in quoted else f"'{quoted}'"
