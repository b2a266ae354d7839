"""Which slots of the schedules that an opening found due fire, and when each schedule is next."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crontick.jobs.schedules import Schedule
from crontick.jobs.sections import CatchUp
from crontick.sql import query
from crontick.sql.wire import Statement, statement

if TYPE_CHECKING:
    from crontick.jobs.slots import Slot

__all__ = ["Due", "digest_of", "firing", "next_slots", "read_due", "with_next_slot"]

DUE_AT_MOST: Final = 100
"""As many schedules as one opening tells; ``crontick.due_schedules`` has the same bound."""
JOBS_AT_MOST: Final = 1000
"""Over all schedules of one tick; what is left fires in the next."""


class Due(msgspec.Struct, frozen=True):
    """One row of ``crontick.due_schedules``: a schedule that has to be computed, and how far it is."""

    name: str
    cron: str
    tz: str
    catch_up: CatchUp
    at_most: int
    late_seconds: float
    spread_seconds: int
    starts_at: datetime
    last_slot_at: datetime | None
    last_slot_local: str | None
    last_slot_fold: int | None

    @property
    def anchor(self) -> "Slot | datetime":
        """Slots after it count: the last one, unless the schedule was changed or resumed since (P24)."""
        from crontick.jobs.slots import Slot

        if self.last_slot_at is None or self.last_slot_local is None or self.last_slot_at < self.starts_at:
            return self.starts_at
        return Slot(at=self.last_slot_at, local=self.last_slot_local, fold=self.last_slot_fold or 0)


def read_due(text: str) -> list[Due]:
    """What an opening answered."""
    return msgspec.json.decode(text, type=list[Due])


def firing(opening: int, due: list[Due], now: datetime) -> tuple[Statement, bool]:
    """What the opening found due, which the first exchange fires, and whether some may be left for the next tick.

    ``now`` is the database's.
    """
    fires = _fires(due, now)
    text = msgspec.json.encode(fires).decode()
    left = len(due) == DUE_AT_MOST or len(fires) < len(due)
    return statement(query("fire_schedules"), {"opening": opening, "fires": text}), left


def _fires(due: Iterable[Due], now: datetime) -> list[dict[str, Any]]:
    """One that cannot be computed stops no other."""
    from crontick.jobs.slots import CronError

    told: list[dict[str, Any]] = []
    jobs = 0
    for one in due:
        if jobs >= JOBS_AT_MOST:
            break
        seen = {"name": one.name, "starts_at": one.starts_at, "last_slot_at": one.last_slot_at}
        try:
            fire = _fire(one, now)
        except CronError as error:
            fire = {"error": str(error)}
        jobs += len(fire.get("slots", ()))
        told.append({**seen, **fire})
    return told


def _fire(one: Due, now: datetime) -> dict[str, Any]:
    from crontick.jobs.slots import between, following, parse

    expression = parse(one.cron, one.tz)
    behind = timedelta(seconds=one.spread_seconds)
    passed, count = between(expression, one.anchor, now - behind, one.at_most if one.catch_up == "all" else 1)
    if not passed:
        return {"next_at": following(expression, one.anchor).at + behind}
    last = passed[-1]
    late = now - behind - last.at > timedelta(seconds=one.late_seconds)
    firing = [] if one.catch_up == "none" and late else passed
    return {
        "slots": [
            {"slot_at": slot.at, "local": slot.local, "missed": count - len(firing) if nth == 0 else 0}
            for nth, slot in enumerate(firing)
        ],
        "passed": count,
        "slot_at": last.at,
        "slot_local": last.local,
        "slot_fold": last.fold,
        "next_at": following(expression, last).at + behind,
    }


def with_next_slot(schedules: Iterable[Schedule], now: datetime) -> str:
    """What ``sync_deployment`` is given: each schedule with its next slot after ``now``, or with what is wrong."""
    told = []
    for schedule in schedules:
        from crontick.jobs.slots import CronError, following, parse

        try:
            next_at = following(parse(schedule.cron, schedule.tz), now).at + schedule.behind
            told.append({**schedule.told(), "next_at": next_at})
        except CronError as error:
            told.append({**schedule.told(), "error": str(error)})
    return msgspec.json.encode(told).decode()


def digest_of(schedules: Iterable[Schedule]) -> str:
    """By which the schedules of one deployment are told from those of another."""
    return sha256(msgspec.json.encode([schedule.told() for schedule in schedules])).hexdigest()[:32]


def next_slots(due: Due, now: datetime, count: int) -> list[datetime]:
    """The moments at which it fires next, after ``now``; none where its expression cannot be read."""
    from crontick.jobs.slots import CronError, between, following, parse

    behind = timedelta(seconds=due.spread_seconds)
    try:
        expression = parse(due.cron, due.tz)
        passed, _ = between(expression, due.anchor, now - behind, 1)
        after: Slot | datetime = passed[-1] if passed else due.anchor
        found = []
        for _ in range(count):
            after = following(expression, after)
            found.append(after.at + behind)
    except CronError:
        return []
    return found
