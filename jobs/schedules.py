"""Schedules: a job of a kind at each slot of a cron expression, as ``crontick.toml`` or ``@schedule`` say it."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any, Final, TypeVar, get_args

import msgspec

from crontick.jobs.kind import Kind
from crontick.jobs.payload import PayloadError, encode_json
from crontick.jobs.request import NAME_PATTERN
from crontick.jobs.sections import (
    AT_MOST,
    LATE,
    LONGEST_SPREAD,
    MOST_CAUGHT_UP,
    MOST_URGENT,
    CatchUp,
    Overlap,
    ScheduleSettings,
)

__all__ = ["Schedule", "declared", "schedule"]

P = TypeVar("P")
_NOTHING: Final[dict[str, Any]] = {}


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule. Its expression is read where it is needed, by ticks that fire: reading it costs imports."""

    name: str
    cron: str
    tz: str
    kind: str
    payload: str = "{}"
    queue: str | None = None
    priority: int | None = None
    catch_up: CatchUp = "latest"
    at_most: int = AT_MOST
    late: timedelta = LATE
    overlap: Overlap = "skip"
    spread: timedelta = timedelta(0)

    @classmethod
    def from_settings(cls, said: ScheduleSettings) -> "Schedule":
        """The schedule that a ``[[schedule]]`` describes."""
        given = {name: getattr(said, name) for name in cls.__struct_fields__ if getattr(said, name) is not None}
        return cls(**{**given, "payload": encode_json(said.payload)})

    @property
    def behind(self) -> timedelta:
        """How far it is behind its slots: the same for ever, and for each name another part of ``spread``."""
        number = int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:8])
        return timedelta(seconds=number % (int(self.spread.total_seconds()) + 1))

    def told(self) -> dict[str, Any]:
        """What the database keeps of it."""
        return {
            "name": self.name,
            "cron": self.cron,
            "tz": self.tz,
            "kind": self.kind,
            "payload": msgspec.Raw(self.payload.encode()),
            "queue": self.queue,
            "priority": self.priority,
            "catch_up": self.catch_up,
            "at_most": self.at_most,
            "late_seconds": self.late.total_seconds(),
            "overlap": self.overlap,
            "spread_seconds": int(self.behind.total_seconds()),
        }


def schedule(  # noqa: PLR0913 (each is one fact of the schedule, by name)
    cron: str,
    *,
    tz: str = "UTC",
    payload: object = _NOTHING,
    name: str | None = None,
    queue: str | None = None,
    priority: int | None = None,
    catch_up: CatchUp = "latest",
    at_most: int = AT_MOST,
    late: timedelta = LATE,
    overlap: Overlap = "skip",
    spread: timedelta = timedelta(0),
) -> Callable[[Kind[P]], Kind[P]]:
    """Enqueue the kind below at each slot of five cron fields in that zone; several may stand above one kind.

    ``name`` is the kind's unless given. ``catch_up`` says what becomes of slots that no tick came for: the ``latest``
    fires, ``none`` does unless it is at most ``late`` behind, or ``all`` do, the latest ``at_most``. ``overlap`` says
    whether a slot whose last job is unfinished is a ``skip``. ``spread`` delays the slots of each name by its own part
    of it. Raises ``PayloadError`` for a payload that does not fit the kind; the expression is read by
    ``crontick check``.
    """

    def decorate(kind: Kind[P]) -> Kind[P]:
        if not isinstance(kind, Kind):
            raise TypeError(f"@schedule({cron!r}) stands above a kind: put @kind(…) between it and its function")
        made = Schedule(
            name=kind.name if name is None else name,
            cron=cron,
            tz=tz,
            kind=kind.name,
            payload=kind.payload.encode(payload),
            queue=queue,
            priority=priority,
            catch_up=catch_up,
            at_most=at_most,
            late=late,
            overlap=overlap,
            spread=spread,
        )
        _check(made, kind)
        return msgspec.structs.replace(kind, schedules=(made, *kind.schedules))

    return decorate


def declared(kinds: Mapping[str, Kind[Any]], sections: Iterable[ScheduleSettings]) -> tuple[Schedule, ...]:
    """All schedules of these kinds and of the file, by name. Raises ``ValueError`` for what cannot be."""
    found: dict[str, Schedule] = {}
    of_kinds = (schedule for kind in kinds.values() for schedule in kind.schedules)
    for schedule in (*of_kinds, *map(Schedule.from_settings, sections)):
        if schedule.name in found:
            raise ValueError(f"two schedules are called {schedule.name}: rename one")
        _check(schedule, kinds[schedule.kind])
        found[schedule.name] = schedule
    return tuple(schedule for _, schedule in sorted(found.items()))


def _check(made: Schedule, kind: Kind[Any]) -> None:
    """Raises ``ValueError`` for what cannot be, but for the expression; ``PayloadError`` for the payload."""
    if not re.match(NAME_PATTERN, made.name):
        raise ValueError(f"schedule {made.name[:80]!r} is no name: lower-case letters, digits, _ . -, at most 64")
    for what, given, known in (
        ("catch_up", made.catch_up, get_args(CatchUp)),
        ("overlap", made.overlap, get_args(Overlap)),
    ):
        if given not in known:
            raise ValueError(f"schedule {made.name}: {what} is one of {', '.join(known)}, not {given!r}")
    for what, number, least, most in (
        ("at_most", made.at_most, 1, MOST_CAUGHT_UP),
        ("priority", made.priority or 0, -MOST_URGENT, MOST_URGENT),
    ):
        if not least <= number <= most:
            raise ValueError(f"schedule {made.name}: {what} is {least} to {most}, not {number}")
    if made.late < timedelta(0):
        raise ValueError(f"schedule {made.name}: late is not negative, and {made.late} is: give 0 or more")
    if not timedelta(0) <= made.spread <= LONGEST_SPREAD:
        raise ValueError(f"schedule {made.name}: spread is 0 to {LONGEST_SPREAD}, not {made.spread}")
    said = msgspec.json.decode(made.payload)
    if not isinstance(said, dict):
        raise PayloadError(f"schedule {made.name}: its payload is an object, to which its slot is added")
    if secret := sorted(name for name in kind.secret if said.get(name) is not None):
        raise PayloadError(
            f"schedule {made.name}: {secret[0]} is secret, and the payload of a schedule is kept in clear: leave it out"
        )
