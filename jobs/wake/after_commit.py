"""Setting the alarm for what was enqueued once that is committed, for before nobody can know that it will be."""

import asyncio
import logging
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from crontick.jobs.enqueue import Order
from crontick.jobs.on_connection import is_async, library_name
from crontick.jobs.redact import Redactor
from crontick.jobs.wake.configured import configured

if TYPE_CHECKING:
    from crontick.jobs.outward_sections import WakeSettings

__all__ = ["earliest", "enqueued", "wake_for"]

Due: TypeAlias = datetime | timedelta | float | None
"""A moment, a length of time from now, or now."""
SECONDS: Final = 1.0
"""What a commit waits for the platform at most."""
_PENDING: Final = "crontick_wake"
_IDLE: Final = 0
"""libpq's PQTRANS_IDLE: no transaction is open, so what ran is committed."""
log: Final = logging.getLogger("crontick.wake")


async def wake_for(
    moments: Sequence[Due], wake: "WakeSettings | None" = None, redact: Redactor | None = None
) -> datetime | None:
    """When somebody will call for the first of what is due then; None where nobody new was asked. Nothing is raised.

    The moment counts from this process's clock, as no due time does: a tick that comes too early sets the next alarm.
    """
    wake = wake or configured()
    if wake is None:
        return None
    from crontick.jobs.tick_secrets import TickSecrets
    from crontick.jobs.wake.arming import arm, is_armed, left_alone

    redact = redact or Redactor(())
    try:
        now = datetime.now(UTC)
        due_at = earliest(moments, now)
        if is_armed(wake, due_at, now=now) or left_alone(wake):
            return None
        return await arm(wake, due_at, TickSecrets(redact), now=now, seconds=min(SECONDS, wake.timeout.total_seconds()))
    except Exception as error:  # noqa: BLE001 (what was enqueued is committed, and nothing may take that back)
        ours = type(error).__module__.startswith("crontick")
        said = redact(str(error)) if ours else type(error).__name__
        log.warning("no alarm was set: %s; the next tick or enqueue tries again", said)
        return None


def earliest(moments: Iterable[Due], now: datetime) -> datetime:
    """The first of them; None is now, and a length of time counts from then."""
    return min((_moment(said, now) for said in moments), default=now)


def _moment(said: Due, now: datetime) -> datetime:
    match said:
        case None:
            return now
        case datetime():
            return said
        case timedelta():
            return now + said
    return now + timedelta(seconds=said)


def enqueued(conn: Any, orders: Iterable[Order], run: Callable[[], Any]) -> Any:
    """What ``run`` returns, once it is known how the alarm gets set after the commit.

    Django and SQLAlchemy's sessions tell when they commit; psycopg and asyncpg commit at once outside a transaction.
    In one of theirs, as on SQLAlchemy's bare connection, nobody tells: there it is ``arm_wake``, or the next tick.
    """
    now = datetime.now(UTC)
    due_at = earliest((_run_at(order) for order in orders), now)
    if not is_async(conn):
        value = run()
        _after(conn, due_at)
        return value

    async def then() -> Any:
        value = await run()
        if _committed_at_once(conn):
            await wake_for([due_at])
        else:
            _after(conn, due_at)
        return value

    return then()


def _run_at(order: Order) -> datetime | float | None:
    return order.delay_seconds if order.run_at is None else datetime.fromisoformat(order.run_at)


def _after(conn: Any, due_at: datetime) -> None:
    names = {library_name(cls) for cls in type(conn).__mro__}
    if names & {"django.BaseDatabaseWrapper", "django.ConnectionProxy"}:
        if conn.in_atomic_block or conn.get_autocommit():
            conn.on_commit(lambda: _wait(due_at))
    elif names & {"sqlalchemy.scoped_session", "sqlalchemy.async_scoped_session"}:
        _after(conn(), due_at)
    elif "sqlalchemy.AsyncSession" in names:
        _after_session(conn.sync_session, due_at)
    elif "sqlalchemy.Session" in names:
        _after_session(conn, due_at)
    elif _committed_at_once(conn):
        _wait(due_at)


def _committed_at_once(conn: Any) -> bool:
    names = {library_name(cls) for cls in type(conn).__mro__}
    if names & {"psycopg.Connection", "psycopg.AsyncConnection"}:
        return bool(conn.info.transaction_status == _IDLE)
    return bool(names & {"asyncpg.Connection", "asyncpg.PoolConnectionProxy"}) and not conn.is_in_transaction()


def _after_session(session: Any, due_at: datetime) -> None:
    """The earliest moment stays with the session until its outermost transaction ends."""
    events = sys.modules["sqlalchemy"].event
    pending = session.info.get(_PENDING)
    session.info[_PENDING] = due_at if pending is None else min(pending, due_at)
    if not events.contains(session, "after_commit", _session_committed):
        events.listen(session, "after_commit", _session_committed)
        events.listen(session, "after_soft_rollback", _session_rolled_back)


def _session_committed(session: Any) -> None:
    if session.in_nested_transaction():  # a savepoint's end is no commit
        return
    due_at = session.info.pop(_PENDING, None)
    if due_at is None:
        return
    greenlets = sys.modules["sqlalchemy.util.concurrency"]
    if greenlets.in_greenlet():  # an async session's: the loop turns meanwhile
        greenlets.await_only(wake_for([due_at]))
    else:
        _wait(due_at)


def _session_rolled_back(session: Any, transaction: Any) -> None:
    if transaction.parent is None:
        session.info.pop(_PENDING, None)


def _wait(due_at: datetime) -> None:
    """For code that is not async, whether or not a loop runs in its thread."""
    thread = threading.Thread(target=lambda: asyncio.run(wake_for([due_at])), name="crontick wake", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # too many of them, or the interpreter ends; and what was enqueued is committed
        log.warning("no alarm was set: no thread can be started; the next tick or enqueue tries again")
        return
    thread.join(SECONDS)
