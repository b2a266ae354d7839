"""What an outage missed is counted day by day, and its latest slots are found from the end."""

from datetime import UTC, datetime, timedelta

import pytest

from crontick.jobs.slots import Slot, between, following, parse

# The changes of these zones in 2026 lie in the stretches of the first test.
ZONES = ("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Antarctica/Troll", "America/Havana", "UTC")
EXPRESSIONS = ("*/7 * * * *", "30 2 * * *", "*/10 0-3 * * *", "0,45 0-3 * * *", "0 */5 * * sun", "59 23 L * *")


def one_by_one(text: str, zone: str, after: datetime, until: datetime) -> list[Slot]:
    expression = parse(text, zone)
    slots = [following(expression, after)]
    while slots[-1].at <= until:
        slots.append(following(expression, slots[-1]))
    return slots[:-1]


@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_what_is_counted_is_what_fires_one_by_one(text: str, zone: str) -> None:
    for month, day, days in ((3, 5, 5), (3, 27, 10), (10, 2, 4), (10, 23, 10)):
        after = datetime(2026, month, day, 0, 3, 30, tzinfo=UTC)
        until = after + timedelta(days=days)
        slots = one_by_one(text, zone, after, until)
        assert between(parse(text, zone), after, until, 3) == (slots[-3:], len(slots))
        if slots:
            assert between(parse(text, zone), slots[0], slots[-1].at, 10_000) == (slots[1:], len(slots) - 1)


def test_a_slot_that_is_due_this_second_is_in_between() -> None:
    at = datetime(2026, 12, 1, 9, tzinfo=UTC)
    daily = parse("0 9 * * *", "UTC")
    assert between(daily, at - timedelta(days=1), at, 1)[1] == 1
    assert between(daily, at - timedelta(days=1), at - timedelta(microseconds=1), 1) == ([], 0)
    assert between(daily, at, at, 1) == ([], 0)
    assert between(daily, at, at - timedelta(days=7), 1) == ([], 0)


def test_ten_years_of_minutes_are_counted_by_their_days() -> None:
    [last], count = between(
        parse("* * * * *", "Europe/Berlin"), datetime(2016, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC), 1
    )
    assert (last.at, count) == (datetime(2026, 1, 1, tzinfo=UTC), 3653 * 24 * 60)
