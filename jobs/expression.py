"""A cron expression, read and checked, as the times that it names on a clock of no zone."""

import functools
import re
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, time, timedelta
from itertools import takewhile
from typing import Final

import msgspec

__all__ = ["CronError", "Expression", "count_named", "last_named", "named_after", "parse"]

NICKNAMES: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
FIELDS: Final = ("minute", "hour", "day of the month", "month", "day of the week")
RANGES: Final = ("0 to 59", "0 to 23", "1 to 31", "1 to 12 or jan to dec", "0 to 7 or sun to sat")
_ENDS: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_LONGEST: Final = 1000
_RANGE_OF_ONE: Final = re.compile(r"\b([a-z0-9]+)-\1/[0-9]+", re.IGNORECASE)
"""``5-5/3``: cronsim reads it as ``5/3``."""
_LONG_AGO: Final = datetime(2000, 1, 1)  # noqa: DTZ001 (a clock of no zone)
_SECOND: Final = timedelta(seconds=1)
_DAY: Final = timedelta(days=1)


class CronError(ValueError):
    """What is wrong with an expression or its zone, and the mend."""


class Expression(msgspec.Struct, frozen=True):
    """An expression that fires; ``fields`` are its five as cronsim is to read them, with a nickname written out."""

    text: str
    zone: str
    fields: str

    @property
    def wildcard(self) -> bool:
        """Whether minute or hour begins with a star: it then follows the clock, through gaps and overlaps too."""
        minute, hour, *_ = self.fields.split()
        return minute.startswith("*") or hour.startswith("*")


def parse(text: str, zone: str) -> Expression:
    """Raises ``CronError`` for what is no expression of five fields, can never fire, or names no zone."""
    from crontick.jobs import zones

    try:
        zones.zone(zone)
    except ValueError as error:
        raise CronError(str(error)) from None
    fields = _fields(text)
    for nth, field in enumerate(fields):
        for term in field.split(","):
            if not _reads(nth, term):
                raise CronError(f"{text!r}: field {nth + 1} of 5, the {FIELDS[nth]}: {_mend(nth, term)}")
    expression = Expression(" ".join(text.split()), zone, _RANGE_OF_ONE.sub(r"\1", " ".join(fields)))
    next(named_after(expression, _LONG_AGO))
    return expression


def named_after(expression: Expression, wall: datetime) -> Iterator[datetime]:
    """The times after ``wall``, without zone; raises ``CronError`` where fifty years name none."""
    from cronsim import CronSim, CronSimError

    with suppress(CronSimError):
        yield from CronSim(expression.fields, wall)
    raise CronError(
        f"{expression.text!r} never fires: no month of field 4 has the day that field 3 or 5 asks for:"
        " ask for one that it has, such as 28"
    )


def last_named(expression: Expression, before: datetime) -> datetime:
    """The last time before a wall time, without zone."""
    from cronsim import CronSim

    return next(CronSim(expression.fields, before, reverse=True))


def count_named(expression: Expression, start: datetime, stop: datetime) -> int:
    """How many times lie from ``start`` until before ``stop``: the work is one step a day, however many a day has."""
    from cronsim import CronSim

    minute, hour, *_ = expression.fields.split()
    times, days = _times(minute, hour), CronSim(expression.fields, start)
    count, day = 0, start.date()
    while day <= stop.date():
        if day.month in days.months and days.match_day(day):
            first = bisect_left(times, start.time()) if day == start.date() else 0
            last = bisect_left(times, stop.time()) if day == stop.date() else len(times)
            count += last - first
        day += _DAY
    return count


@functools.lru_cache(maxsize=256)
def _times(minute: str, hour: str) -> tuple[time, ...]:
    """The times of one day."""
    from cronsim import CronSim

    day = CronSim(f"{minute} {hour} * * *", _LONG_AGO - _SECOND)
    return tuple(wall.time() for wall in takewhile(lambda wall: wall.date() == _LONG_AGO.date(), day))


def _fields(text: str) -> list[str]:
    if len(text) > _LONGEST:
        raise CronError(f"a cron expression of {len(text)} characters: {_LONGEST} are the most, write ranges and steps")
    fields = text.split()
    if text.strip().startswith("@"):
        if text.strip().lower() not in NICKNAMES:
            raise CronError(f"{text!r} is none of {', '.join(NICKNAMES)}: write five fields, such as */5 * * * *")
        return NICKNAMES[text.strip().lower()].split()
    if len(fields) != len(FIELDS):
        raise CronError(f"{text!r} has {len(fields)} fields: write five, {', '.join(FIELDS)}{_beyond(fields)}")
    return fields


def _beyond(fields: list[str]) -> str:
    if len(fields) < len(FIELDS):
        return ""
    return "; the zone goes into tz" if "=" in fields[0] else "; seconds, years and users are not understood"


def _reads(nth: int, term: str) -> bool:
    """Whether a term is understood where it stands."""
    from cronsim import CronSim, CronSimError

    if not term or (nth == 2 and "/" in term and "L" in term.upper()):
        return False
    fields = ["*"] * len(FIELDS)
    fields[nth] = term
    try:
        CronSim(" ".join(fields), _LONG_AGO)
    except CronSimError:
        return False
    return True


def _mend(nth: int, term: str) -> str:
    if not term:
        return "a comma has nothing before or after it"
    if term == "?":
        return "for any, write *"
    if re.search(r"/0+$", term):
        return f"{term!r} has a step of 0: write 1 or more"
    ends = re.fullmatch(r"([^-/]+)-([^-/]+)(/[0-9]+)?", term)
    if ends and _reads(nth, ends[1]) and _reads(nth, ends[2]):
        low, high = _ENDS[nth]
        return f"{term!r} runs backwards: write {ends[1]}-{high},{low}-{ends[2]}"
    return f"{term!r} is not understood: write {RANGES[nth]}, or with them a range 1-5, a list 1,4 or a step */5"
