"""Time zones by the data that crontick brings along, and the moments at which their clocks change."""

import functools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

__all__ = ["Change", "Piece", "changes_of", "offset_at", "pieces", "zone", "zone_data_version", "zone_names"]

_DAY: Final = timedelta(days=1)
_SECOND: Final = timedelta(seconds=1)


class Change(msgspec.Struct, frozen=True):
    """The first instant of another offset from UTC: a gap if it grows, an overlap if it shrinks."""

    at: datetime
    before: timedelta
    after: timedelta


class Piece(msgspec.Struct, frozen=True):
    """From ``start`` until before ``stop`` the zone's clock runs evenly, ``offset`` ahead of UTC."""

    start: datetime
    stop: datetime
    offset: timedelta


def zone_data_version() -> str:
    """The release of the zone data that decide when schedules fire, such as ``2026b``."""
    import tzdata

    return str(tzdata.IANA_VERSION)


@functools.cache
def zone_names() -> frozenset[str]:
    """All names that are understood."""
    return frozenset((_folder() / "zones").read_text().split()) - {"Factory"}


@functools.cache
def zone(name: str) -> "ZoneInfo":
    """The rules of a zone, never the system's: those age with the host. Raises ``ValueError``."""
    from zoneinfo import ZoneInfo

    if name not in zone_names():
        from crontick.jobs.fit import suggestion

        mend = suggestion(name, zone_names()) or ": write one such as Europe/Berlin, or UTC"
        raise ValueError(f"{name!r} is no time zone{mend}")
    with (_folder() / "zoneinfo" / name).open("rb") as file:
        return ZoneInfo.from_file(file, key=name)


def offset_at(name: str, at: datetime) -> timedelta:
    """How far the zone's clock is ahead of UTC at an instant."""
    offset = at.astimezone(zone(name)).utcoffset()
    assert offset is not None
    return offset


def pieces(name: str, start: datetime, stop: datetime) -> Iterator[Piece]:
    """The time between two instants, cut wherever the zone's clock changes, and at the ends of years in UTC."""
    for year in range(start.year, stop.year + 1):
        for change in changes_of(name, year):
            if start < change.at < stop:
                yield Piece(start, change.at, change.before)
                start = change.at
        end = min(datetime(year + 1, 1, 1, tzinfo=UTC), stop)
        if start < end:
            yield Piece(start, end, offset_at(name, start))
            start = end


@functools.lru_cache(maxsize=1024)
def changes_of(name: str, year: int) -> tuple[Change, ...]:
    """The changes of one year in UTC: looked for day by day, since zoneinfo does not tell them."""
    changes: list[Change] = []
    low, end = datetime(year, 1, 1, tzinfo=UTC) - _SECOND, datetime(year + 1, 1, 1, tzinfo=UTC) - _SECOND
    before = offset_at(name, low)
    while low < end:
        high = min(low + _DAY, end)
        after = offset_at(name, high)
        if after != before:
            changes.append(Change(_first(name, low, high), before, after))
        low, before = high, after
    return tuple(changes)


def _folder() -> Path:
    """Where the data are; to import importlib.resources would cost a cold tick more than to read them."""
    import tzdata

    return Path(tzdata.__file__).parent


def _first(name: str, low: datetime, high: datetime) -> datetime:
    """The first second after ``low`` with the offset that ``high`` has."""
    after = offset_at(name, high)
    while high - low > _SECOND:
        middle = low + timedelta(seconds=(high - low) // _SECOND // 2)
        if offset_at(name, middle) == after:
            high = middle
        else:
            low = middle
    return high
