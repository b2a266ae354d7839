"""What a test stands on: an open transaction in a database that has crontick's schema, and is not production's."""

import inspect
from typing import Any, Final

from crontick.jobs.testing.borrowed import roll_back_to
from crontick.jobs.testing.say import as_psycopg, ask, say

__all__ = ["MADE_FOR_TESTS", "NO_TRANSACTION", "begin", "undo"]

NO_TRANSACTION: Final = (
    "no transaction is open on this connection, and the test's ends with its transaction: turn autocommit off, or begin"
    " one, and roll it back after the test"
)
_ENDED: Final = (
    "the function committed or rolled back the test's transaction, and nothing of it can be taken back: in a function,"
    " use commit() and rollback() of the connection that ctx.db() lends, never these as statements"
)
_SAVEPOINT_IS_GONE: Final = frozenset({"3B001", "25P01"})
MADE_FOR_TESTS: Final = (
    "take that of the fixture crontick_database, or run `CRONTICK_ENVIRONMENT=test crontick migrate --test-clock`"
)
_MISSING_SCHEMA: Final = frozenset({"3F000", "42P01"})
_NOT_IN_TRANSACTION: Final = "25P01"


async def begin(conn: Any, savepoint: str) -> str:
    """Make a savepoint, after what a session has not yet sent; the database's environment. Raises ``RuntimeError``."""
    if callable(flush := getattr(conn, "flush", None)):
        sent = flush()
        if inspect.isawaitable(sent):
            await sent
    try:
        await say(conn, f"savepoint {savepoint}")
    except Exception as error:
        if as_psycopg(error).sqlstate != _NOT_IN_TRANSACTION:
            raise
        raise RuntimeError(NO_TRANSACTION) from None
    try:
        return await _environment(conn)
    except BaseException:
        await undo(conn, savepoint)
        raise


async def undo(conn: Any, savepoint: str) -> None:
    """All goes that was done since ``begin``.

    Raises ``RuntimeError`` where the savepoint went with its transaction; no transaction is open then.
    """
    try:
        await roll_back_to(conn, savepoint)
        await say(conn, f"release savepoint {savepoint}")
    except Exception as error:
        if as_psycopg(error).sqlstate not in _SAVEPOINT_IS_GONE:
            raise
        await say(conn, "rollback")
        raise RuntimeError(_ENDED) from error


async def _environment(conn: Any) -> str:
    try:
        [(environment, *_)] = await ask(conn, "read_installation")
    except Exception as error:
        if as_psycopg(error).sqlstate not in _MISSING_SCHEMA:
            raise
        raise RuntimeError(f"this database has no schema crontick: {MADE_FOR_TESTS}") from None
    if environment == "production":
        raise RuntimeError('the environment of this database is "production", and its jobs would run: take another')
    return str(environment)
