"""What a tick that ends leaves behind: an alarm for whatever is due next."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

import psycopg

from crontick.jobs.caller import WATCH
from crontick.jobs.deployment import Deployment
from crontick.jobs.exchange import Exchanges
from crontick.jobs.link import Trips
from crontick.jobs.summary import Summary
from crontick.jobs.tick_secrets import TickSecrets
from crontick.jobs.wake.alarm import NotArmed, alarm_for
from crontick.jobs.wake.arming import arm
from crontick.jobs.wake.configured import IN_TICK
from crontick.sql import query
from crontick.sql.wire import statement

__all__ = ["due_next", "in_tick", "wake_after_tick"]

_TRIED_IN_VAIN: Final = "the next tick tries again"
_BEHIND_AT_MOST: Final = timedelta(minutes=5)


@contextmanager
def in_tick() -> Iterator[None]:
    """What functions enqueue in here sets no alarm of its own: the tick's end does, once for all."""
    before = IN_TICK.set(True)
    try:
        yield
    finally:
        IN_TICK.reset(before)


async def wake_after_tick(
    link: Trips, deployment: Deployment, exchanges: Exchanges, summary: Summary, *, seconds: float
) -> None:
    """Set the alarm, also one that was set before, unless ``set_again`` is false: it may have been lost.

    What goes wrong is a warning.

    Dies the process before this, nobody has set it: the safety schedule's tick does.
    """
    wake, now = deployment.config.wake, _now(exchanges)
    due_at = due_next(summary, now, reminds=bool(deployment.reminders))
    if wake is None or due_at is None or summary.trigger == WATCH:
        return
    wake_at: datetime | None = alarm_for(due_at, now=now, precision=wake.precision).at
    try:
        if wake.set_again or not await _is_set(link, wake_at):
            seconds = min(seconds, wake.timeout.total_seconds())
            wake_at = await arm(wake, due_at, TickSecrets(deployment.redact), now=now, seconds=seconds)
    except Exception as error:  # noqa: BLE001 (whatever keeps an alarm from being set fails no tick)
        said = str(error) if isinstance(error, NotArmed) else type(error).__name__
        summary.warn(deployment.redact(f"no alarm was set: {said}; {_TRIED_IN_VAIN}"))
        return
    if wake_at is not None:
        summary.wake_at = wake_at
        await _note(link, exchanges.opening, summary)


def _now(exchanges: Exchanges) -> datetime:
    """The later of the database's time and this process's own, which is as good as the platform's.

    Where the database is behind, the alarm that called this tick came too early: the same one again would be taken for
    set. A clock that is further ahead than a few minutes is not believed.
    """
    return max(exchanges.now, min(datetime.now(UTC), exchanges.now + _BEHIND_AT_MOST))


def due_next(summary: Summary, now: datetime, *, reminds: bool) -> datetime | None:
    """When a tick next has something to do; now, where this one left something that is due. None: never.

    A reminder's query looks a day ahead: what comes up later is found by the look at the next midnight (UTC), one
    alarm a day for all.
    """
    if summary.not_run == "paused":
        return None
    moments = [now] if summary.more else []
    if summary.next_due_at is not None:
        moments.append(summary.next_due_at)
    if reminds:
        moments.append(now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1))
    return min(moments, default=None)


async def _is_set(link: Trips, wake_at: datetime | None) -> bool:
    """By a tick before; not, where that cannot be read: two alarms are better than none."""
    try:
        [answer] = await link.tell([[statement(query("read_wake"), {"wake_at": wake_at})]])
    except (psycopg.Error, OSError, TimeoutError):
        return False
    return answer.error is None and bool(answer.rows[0][0][0])


async def _note(link: Trips, opening: int, summary: Summary) -> None:
    """For ``crontick status``: the alarm is set whether or not this is written down."""
    noted = statement(query("note_wake"), {"opening": opening, "wake_at": summary.wake_at})
    try:
        [answer] = await link.tell([[noted]])
        error: BaseException | None = answer.error
    except (psycopg.Error, OSError, TimeoutError) as failed:
        error = failed
    if error is not None:
        state = getattr(error, "sqlstate", None) or type(error).__name__
        summary.warn(f"an alarm was set, and could not be written down ({state})")
