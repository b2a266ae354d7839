"""What an expression does on the nights on which a zone's clock changes, told before they come."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Final

import msgspec

from crontick.jobs import zones
from crontick.jobs.expression import Expression, named_after
from crontick.jobs.slots import Slot, between, following

__all__ = ["Happening", "around", "coming_changes", "shown"]

_SECOND: Final = timedelta(seconds=1)
_YEARS_AHEAD: Final = 2


class Happening(msgspec.Struct, frozen=True):
    """A time that the expression names near a change: when it fires, ``None`` for not at all, and why so."""

    named: datetime
    at: datetime | None
    what: str


def coming_changes(zone: str, after: datetime) -> list[zones.Change]:
    """The next gap and the next overlap of a zone, in their order; none where its clock stays as it is."""
    found: dict[bool, zones.Change] = {}
    for year in range(after.year, after.year + _YEARS_AHEAD):
        for change in zones.changes_of(zone, year):
            if change.at > after:
                found.setdefault(change.after > change.before, change)
    return sorted(found.values(), key=lambda change: change.at)


def shown(zone: str, at: datetime) -> datetime:
    """What a clock in the zone shows, with its offset."""
    return at.astimezone(zones.zone(zone))


def around(expression: Expression, change: zones.Change, *, at_most: int) -> list[Happening]:
    """The last slot before, what is named within the size of the change (``at_most`` of a sort), and the next slot."""
    size = abs(change.after - change.before)
    start, stop = change.at - size, change.at + size
    slots = between(expression, start - timedelta(days=400), start - _SECOND, 1)[0]
    last = following(expression, start - _SECOND)
    while last.at < stop and len(slots) < at_most:
        slots.append(last)
        last = following(expression, last)
    happenings = [_fires(expression, change, slot) for slot in [*slots, last]]
    happenings += islice(_left_out(expression, change, {slot.local for slot in slots}), at_most)
    return sorted(happenings, key=lambda happening: (happening.at or change.at, happening.named))


def _fires(expression: Expression, change: zones.Change, slot: Slot) -> Happening:
    named = datetime.fromisoformat(slot.local)
    first, last = _affected(change)
    what = "fires"
    if shown(expression.zone, slot.at).replace(tzinfo=None) != named:
        what = "does not exist: fires at the end of the gap"
    elif change.after < change.before and first <= named < last:
        what = "comes twice: fires again" if slot.fold else "comes twice: fires the first time"
    return Happening(named, slot.at, what)


def _left_out(expression: Expression, change: zones.Change, fired: set[str]) -> Iterator[Happening]:
    first, last = _affected(change)
    for named in takewhile(lambda wall: wall < last, named_after(expression, first - _SECOND)):
        if change.after > change.before and named.isoformat() not in fired:
            what = "does not exist: is left out" if expression.wildcard else "does not exist: fires once with the next"
            yield Happening(named, None, what)
        elif change.after < change.before and not expression.wildcard:
            yield Happening(named, None, "comes twice: does not fire again")


def _affected(change: zones.Change) -> tuple[datetime, datetime]:
    """The times of a gap, or those that come twice: from the first until before the second."""
    walls = [change.at.replace(tzinfo=None) + offset for offset in (change.before, change.after)]
    return min(walls), max(walls)
