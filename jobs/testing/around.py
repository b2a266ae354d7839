"""What stands around an attempt in a test: a savepoint, so that an error of the database stays with its attempt."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import partial
from typing import Any, Final

from crontick.jobs.context import Context
from crontick.jobs.testing.borrowed import BorrowedLink, roll_back_to
from crontick.jobs.testing.place import Place
from crontick.jobs.testing.say import as_psycopg, say
from crontick.jobs.testing.verdicts import Verdicts
from crontick.jobs.threads import SyncSide

__all__ = ["Around", "around_attempts", "judged"]

Around = Callable[[Context], AbstractAsyncContextManager[Any]]
Hook = Callable[[Context], Any]
_IN_ATTEMPT: Final = "crontick_attempt"


def around_attempts(conn: Any, place: Place, link: BorrowedLink, inner: Hook | None, verdicts: Verdicts) -> Around:
    """The deployment's own hook, within it."""

    @asynccontextmanager
    async def around(ctx: Context) -> AsyncIterator[None]:
        async with link.turn:
            await place.speak(say(conn, f"savepoint {_IN_ATTEMPT}"))
            try:
                async with judged(ctx, inner, place.sync_side, verdicts):
                    yield
            finally:
                await place.speak(_left(conn))
                # A rollback of the function's own took the reservations with it, as it cannot in life.
                for key in ctx.marks:
                    await ctx.reserve(key)

    return around


@asynccontextmanager
async def judged(ctx: Context, inner: Hook | None, sync_side: SyncSide, verdicts: Verdicts) -> AsyncIterator[None]:
    """The deployment's own hook, and the test's word on what came out of it."""
    try:
        async with nullcontext() if inner is None else _entered(inner(ctx), ctx, sync_side):
            yield
    except BaseException as error:
        verdicts.judge(error)
        raise


@asynccontextmanager
async def _entered(manager: Any, ctx: Context, sync_side: SyncSide) -> AsyncIterator[None]:
    """A plain manager is entered and left where the function runs."""
    if hasattr(manager, "__aenter__"):
        async with manager:
            yield
    elif ctx.kind.is_async:
        with manager:
            yield
    else:
        await sync_side.run(manager.__enter__)
        try:
            yield
        except BaseException as error:
            if not await sync_side.run(partial(manager.__exit__, type(error), error, error.__traceback__)):
                raise
        else:
            await sync_side.run(partial(manager.__exit__, None, None, None))


async def _left(conn: Any) -> None:
    """What the function did stays, unless an error of the database has left the transaction unusable."""
    try:
        await say(conn, f"release savepoint {_IN_ATTEMPT}")
    except Exception as error:  # noqa: BLE001 (each driver has its own)
        _refused(error)
        await roll_back_to(conn, _IN_ATTEMPT)
        await say(conn, f"release savepoint {_IN_ATTEMPT}")


def _refused(error: Exception) -> None:
    """Raises what is not the refusal of a broken transaction: the database's own, or Django's before it asks."""
    if type(error).__name__ != "TransactionManagementError":
        as_psycopg(error)
