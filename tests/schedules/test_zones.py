"""In every zone that ships, over ten years: slots strictly increase, and no daily job is lost or doubled."""

import functools
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise

import pytest

from crontick.jobs.slots import Slot, between, following, parse, zone_data_version
from crontick.jobs.zones import Change, changes_of, offset_at, zone, zone_names

YEARS = range(2021, 2031)
START, STOP = datetime(YEARS[0], 1, 1, 12, tzinfo=UTC), datetime(YEARS[-1] + 1, 1, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@functools.cache
def the_zones() -> list[tuple[str, list[Change]]]:
    """Every zone with its changes; of those whose clocks always agree, one."""
    found = {}
    for name in sorted(zone_names()):
        changes = [change for year in YEARS for change in changes_of(name, year)]
        found[offset_at(name, START), tuple((change.at, change.after) for change in changes)] = (name, changes)
    return list(found.values())


@functools.cache
def the_changes() -> list[tuple[str, Change]]:
    """One of each sort in all zones and years: from and to the same offsets, at the same time of the day."""
    return list(
        {
            (change.before, change.after, change.at.time()): (name, change)
            for name, changes in the_zones()
            for change in changes
        }.values()
    )


def around(change: Change) -> tuple[datetime, datetime]:
    size = abs(change.after - change.before) + 3 * HOUR
    return change.at - size, change.at + size


def shown(name: str, at: datetime) -> datetime:
    return at.astimezone(zone(name)).replace(tzinfo=None)


def minutes(name: str, after: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    """Each minute after ``after`` with what a clock in the zone shows, one by one."""
    while after < until:
        after += MINUTE
        yield after, shown(name, after)


def walk(text: str, name: str, after: datetime, until: datetime) -> list[Slot]:
    expression, slots, last = parse(text, name), [], following(parse(text, name), after)
    while last.at <= until:
        slots.append(last)
        last = following(expression, last)
    return slots


def test_no_zone_loses_or_doubles_a_daily_job_in_ten_years() -> None:
    wrong = []
    for name, _ in the_zones():
        for back in (timedelta(0), 2 * HOUR + 30 * MINUTE):
            minute, hour = back.seconds // 60 % 60, back.seconds // 3600
            days = ((shown(name, STOP) - back).date() - (shown(name, START) - back).date()).days
            if between(parse(f"{minute} {hour} * * *", name), START, STOP, 0) != ([], days):
                wrong.append((name, hour, minute))
    assert wrong == []


@pytest.mark.parametrize("name", ["Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "America/Nuuk"])
def test_daily_slots_follow_one_another_day_by_day(name: str) -> None:
    slots = walk("30 2 * * *", name, datetime(2025, 1, 1, 12, tzinfo=UTC), datetime(2027, 1, 1, 12, tzinfo=UTC))
    first = datetime.fromisoformat(slots[0].local)
    assert [datetime.fromisoformat(slot.local) for slot in slots] == [first + nth * DAY for nth in range(730)]
    assert all(earlier.at < later.at for earlier, later in pairwise(slots))


def test_a_daily_job_fires_once_on_each_day_around_every_change() -> None:
    wrong = []
    for name, change in the_changes():
        day = (change.at + change.after).date()
        noon = (datetime.combine(day, time(12)) - 2 * DAY - change.before).replace(tzinfo=UTC)
        for nth_minute in range(0, 24 * 60, 30):
            last: Slot | datetime = noon
            daily = parse(f"{nth_minute % 60} {nth_minute // 60} * * *", name)
            slots = [last := following(daily, last) for _ in range(4)]
            first = day - (2 * DAY if nth_minute > 12 * 60 else DAY)
            if [slot.local[:10] for slot in slots] != [f"{first + nth * DAY}" for nth in range(4)]:
                wrong.append((name, change, nth_minute))
    assert wrong == []


def test_a_fixed_time_fires_when_the_clock_first_reaches_or_passes_it() -> None:
    wrong = []
    for name, change in the_changes():
        after, until = around(change)
        reached, expected = shown(name, after), []
        for at, wall in minutes(name, after, until):
            if wall > reached:
                expected.append((at, wall.isoformat()))
                reached = wall
        if [(slot.at, slot.local) for slot in walk("0-59 0-23 * * *", name, after, until)] != expected:
            wrong.append((name, change))
    assert wrong == []


def test_a_wildcard_expression_follows_the_clock_minute_by_minute() -> None:
    wrong = []
    for name, change in the_changes():
        after, until = around(change)
        walls = [(at, wall) for at, wall in minutes(name, after, until) if wall.minute % 20 == 0 and wall.hour % 2 == 0]
        found = [(slot.at, datetime.fromisoformat(slot.local)) for slot in walk("*/20 */2 * * *", name, after, until)]
        if found != walls:
            wrong.append((name, change))
    assert wrong == []


@pytest.mark.parametrize("every", [1, 5, 15])
def test_an_interval_is_kept_through_every_change(every: int) -> None:
    kept = set()
    for name, change in the_changes():
        after, until = around(change)
        slots = walk(f"*/{every} * * * *", name, after, until)
        kept |= {later.at - earlier.at for earlier, later in pairwise(slots)}
    assert kept == {every * MINUTE}


def test_a_day_that_a_zone_skips_fires_at_its_end_and_midnight_fires_once() -> None:
    """Samoa crossed the date line: 29 December 2011 was followed by the 31st."""
    start, stop = datetime(2011, 12, 29, 12, tzinfo=UTC), datetime(2011, 12, 31, 20, tzinfo=UTC)
    noons = walk("0 12 * * *", "Pacific/Apia", start, stop)
    assert [(slot.local, f"{shown('Pacific/Apia', slot.at):%d %H:%M}") for slot in noons] == [
        ("2011-12-29T12:00:00", "29 12:00"),
        ("2011-12-30T12:00:00", "31 00:00"),
        ("2011-12-31T12:00:00", "31 12:00"),
    ]
    midnights = [slot.local for slot in walk("0 0 * * *", "Pacific/Apia", start, stop)]
    assert midnights == ["2011-12-31T00:00:00", "2012-01-01T00:00:00"]


def test_the_zone_data_are_those_that_came_along() -> None:
    assert zone_data_version() >= "2026b"
    # Since that release British Columbia no longer changes its clocks; a host's own data may be older.
    assert offset_at("America/Vancouver", datetime(2026, 12, 1, tzinfo=UTC)) == timedelta(hours=-7)


@pytest.mark.parametrize("text", ["50 1 * * *", "30 1 * * *", "0-59 1 * * *"])
def test_asked_in_the_second_pass_a_fixed_time_of_the_first_is_over(text: str) -> None:
    second_pass = datetime(2026, 11, 1, 6, 40, tzinfo=UTC)  # 01:40 in New York, for the second time
    slot = following(parse(text, "America/New_York"), second_pass)
    assert slot.local[:13] == "2026-11-02T01"
