"""Run what is due, as a tick does, on the test's own connection and inside its open transaction."""

from collections.abc import Coroutine, Iterable
from typing import Any, Final, overload

import msgspec

from crontick.jobs.bounds import Bounds
from crontick.jobs.caller import Caller
from crontick.jobs.connections import AsyncCallersConnection, CallersConnection
from crontick.jobs.deployment import Deployment
from crontick.jobs.exchange import Exchanges
from crontick.jobs.kind import Kind
from crontick.jobs.on_connection import is_async
from crontick.jobs.reminders import Reminder
from crontick.jobs.request import DEEPEST, TickRequest
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary
from crontick.jobs.supplies import TickSupplies
from crontick.jobs.testing.around import around_attempts
from crontick.jobs.testing.borrowed import BorrowedLink
from crontick.jobs.testing.deployed import deployed
from crontick.jobs.testing.ground import begin, undo
from crontick.jobs.testing.lend import BorrowedLender
from crontick.jobs.testing.place import CallersLoop, CallersThread, Place, in_callers_thread
from crontick.jobs.testing.say import ask, say
from crontick.jobs.testing.verdicts import Verdicts
from crontick.jobs.tick import tick

__all__ = ["drain"]

_BUDGET_SECONDS: Final = 900.0
_IN_DRAIN: Final = "crontick_drain"
_HELD_BY_ANOTHER: Final = "55P03"
_SHARED: Final = (
    "another transaction holds what this one needs, perhaps another test's: give each worker a database of its own,"
    " as the fixture crontick_database does"
)


@overload
def drain(
    conn: CallersConnection,
    limit: int = 100,
    *,
    kinds: Iterable[Kind[Any]] | None = None,
    reminders: Iterable[Reminder] = (),
    deployment: Deployment | None = None,
) -> Summary: ...
@overload
def drain(
    conn: AsyncCallersConnection,
    limit: int = 100,
    *,
    kinds: Iterable[Kind[Any]] | None = None,
    reminders: Iterable[Reminder] = (),
    deployment: Deployment | None = None,
) -> Coroutine[Any, Any, Summary]: ...
def drain(
    conn: Any,
    limit: int = 100,
    *,
    kinds: Iterable[Kind[Any]] | None = None,
    reminders: Iterable[Reminder] = (),
    deployment: Deployment | None = None,
) -> Any:
    """Run due jobs, ``limit`` at most and one after another; the summary, or an awaitable of it on an async connection.

    Nothing is committed, and the transaction can be used afterwards; what the jobs did in it goes with it. Kinds and
    reminders are those of ``CRONTICK_MODULES`` and ``crontick.toml``; or only those that are passed, beside the kinds
    that ship; or those of a deployment. What a function raises is logged with its traceback. A job that failed waits
    for its time, and one above a rate for room, as in life: see ``clock``. ``pytest.fail`` and the test's own failed
    assertions inside a function fail the test.

    Raises ``RuntimeError`` where no transaction is open, where the database is production's, and where a job is due
    whose kind the modules do not have, and where a function ended the test's transaction.
    """
    named = kinds is not None or deployment is not None

    def load(environment: str) -> Deployment:
        return deployed(environment, kinds, reminders, deployment)

    async def drained(place: Place) -> Summary:
        environment = await place.speak(begin(conn, _IN_DRAIN))
        try:
            known = load(environment)
            summary = await _ticked(conn, place, limit, known)
            left = await place.speak(ask(conn, "list_due_unknown_kinds", {"known": known.known}))
            _tell(summary, [kind for (kind,) in left], named=named)
        except BaseException as error:
            await place.speak(undo(conn, _IN_DRAIN))
            if getattr(error, "sqlstate", None) == _HELD_BY_ANOTHER:
                raise RuntimeError(_SHARED) from error
            raise
        await place.speak(say(conn, f"release savepoint {_IN_DRAIN}"))
        return summary

    if is_async(conn):
        return drained(CallersLoop())
    return in_callers_thread(
        lambda: drained(CallersThread()),
        instead="await drain(…) on an async connection, or call it in a test that is not async",
    )


async def _ticked(conn: Any, place: Place, limit: int, known: Deployment) -> Summary:
    link = BorrowedLink(conn, place)
    verdicts = Verdicts()
    around = around_attempts(conn, place, link, known.around, verdicts)
    known = msgspec.structs.replace(known, around=around, alerts=None)
    bounds = Bounds(
        limit=limit,
        concurrency=1,
        budget_seconds=_BUDGET_SECONDS,
        host_limit_seconds=None,
        stop=Stop(),
        stay_seconds=0,
    )
    supplies = TickSupplies(link, known, bounds, BorrowedLender(conn, place), place.sync_side)
    try:
        summary = await tick(
            Exchanges(link, known, bounds, TickRequest(depth=DEEPEST)), supplies, bounds, Caller("drain")
        )
    finally:
        await supplies.close()
    verdicts.tell()
    return summary


def _tell(summary: Summary, unknown: list[str], *, named: bool) -> None:
    """Jobs that nobody ran are what a test least expects."""
    if unknown and not named:
        raise RuntimeError(
            f"jobs are due whose kind no module of CRONTICK_MODULES has ({', '.join(unknown)}): name its module there,"
            " or pass drain(conn, kinds=[…])"
        )
    for kind in unknown:
        summary.warn(f"jobs of the kind {kind} are due, and it was not passed")
