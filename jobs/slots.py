"""The moments that a schedule names, by Debian cron's rule for the nights on which clocks change."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec

from crontick.jobs import zones
from crontick.jobs.expression import CronError, Expression, count_named, last_named, named_after, parse
from crontick.jobs.zones import zone_data_version

__all__ = ["CronError", "Expression", "Slot", "between", "following", "parse", "zone_data_version"]

_SECOND: Final = timedelta(seconds=1)
_LONGEST_OVERLAP: Final = timedelta(days=2)
_HORIZON: Final = timedelta(days=366 * 51)


class Slot(msgspec.Struct, frozen=True):
    """One moment of a schedule.

    ``local`` is the time that the expression names, such as ``2026-10-25T02:30:00``: where that falls into a gap, the
    zone's clock shows a later one at ``at``. ``fold`` is 1 in the second pass of an hour that comes twice.
    """

    at: datetime
    local: str
    fold: int


class _Stretch(msgspec.Struct, frozen=True):
    """The named times from ``low`` until before ``high`` fire by one offset, or all as one ``at`` the end of a gap."""

    low: datetime
    high: datetime
    offset: timedelta
    at: datetime | None = None


def following(expression: Expression, after: Slot | datetime) -> Slot:
    """The next slot, strictly later than ``after``, an aware moment or the slot that fired last.

    A slot's own local time counts too (P24): an expression of fixed times fires none that is not later, so that two
    versions with different zone data fire it once. After a change of the schedule's zone pass ``slot.at`` instead.
    """
    at = after.at if isinstance(after, Slot) else after
    for stretch in _stretches(expression, after, at.astimezone(UTC) + _HORIZON):
        local = next(named_after(expression, stretch.low - _SECOND))
        if local < stretch.high:
            return _slot(expression, stretch, last_named(expression, stretch.high) if stretch.at else local)
    raise CronError(f"{expression.text!r} names no time after {at}")


def between(expression: Expression, after: Slot | datetime, until: datetime, at_most: int) -> tuple[list[Slot], int]:
    """The latest ``at_most`` slots after ``after`` and not after ``until``, in their order; and how many there are.

    The work grows with the days in between and with ``at_most``, not with the slots.
    """
    stretches = list(_stretches(expression, after, until.astimezone(UTC)))
    latest: list[Slot] = []
    count = 0
    for stretch in reversed(stretches):
        named = count_named(expression, stretch.low, stretch.high)
        fired = min(named, 1) if stretch.at else named
        count += fired
        local = stretch.high
        for _ in range(min(fired, at_most - len(latest))):
            local = last_named(expression, local)
            latest.append(_slot(expression, stretch, local))
    return latest[::-1], count


def _slot(expression: Expression, stretch: _Stretch, local: datetime) -> Slot:
    at = stretch.at or (local - stretch.offset).replace(tzinfo=UTC)
    return Slot(at, local.isoformat(), at.astimezone(zones.zone(expression.zone)).fold)


def _stretches(expression: Expression, after: Slot | datetime, until: datetime) -> Iterator[_Stretch]:
    """What the expression names after ``after`` and not after ``until``, piece by piece of an evenly running clock.

    A wildcard expression follows the clock. One of fixed times asks when the clock first reaches or passes each:
    what an overlap shows again was reached before, and what a gap leaves out is passed at its end.
    """
    at = (after.at if isinstance(after, Slot) else after).astimezone(UTC).replace(microsecond=0)
    start = at - _LONGEST_OVERLAP
    reached = _wall(start, zones.offset_at(expression.zone, start))
    if isinstance(after, Slot):
        reached = max(reached, datetime.fromisoformat(after.local) + _SECOND)
    for piece in zones.pieces(expression.zone, start, until.replace(microsecond=0) + _SECOND):
        begin, end = _wall(piece.start, piece.offset), _wall(piece.stop, piece.offset)
        low = begin
        if not expression.wildcard:
            if reached < begin:
                if piece.start > at:
                    yield _Stretch(reached, begin + _SECOND, piece.offset, piece.start)
                reached = begin + _SECOND
            low = max(begin, reached)
            reached = max(reached, end)
        low = max(low, _wall(at, piece.offset) + _SECOND)
        if low < end:
            yield _Stretch(low, end, piece.offset)


def _wall(at: datetime, offset: timedelta) -> datetime:
    """What a clock shows at an instant, without zone."""
    return at.replace(tzinfo=None) + offset
