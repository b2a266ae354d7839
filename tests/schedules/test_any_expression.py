"""Any expression, near any change of any zone's clock, fires as a person would who looks at that clock each minute."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from crontick.jobs.slots import Slot, between, following, parse
from crontick.jobs.zones import zone
from tests.schedules.test_zones import the_changes

MINUTE = timedelta(minutes=1)
Field = tuple[str, frozenset[int]]


@st.composite
def fields(draw: st.DrawFn, low: int, high: int) -> Field:
    """A field's text and the numbers that it means."""
    first = draw(st.integers(low, high))
    last = draw(st.integers(first, high))
    step = draw(st.integers(1, high))
    every = range(low, high + 1)
    forms: list[tuple[str, range | list[int]]] = [
        ("*", every),
        (f"*/{step}", every[::step]),
        (f"{first}", [first]),
        (f"{first},{last}", [first, last]),
        (f"{first}-{last}/{step}", range(first, last + 1, step)),
        (f"{first},*/{step}", [first, *every[::step]]),
    ]
    text, meant = draw(st.sampled_from(forms))
    return text, frozenset(meant)


@st.composite
def expressions(draw: st.DrawFn) -> list[Field]:
    days = draw(st.sampled_from([(("*", frozenset(range(1, 32))), ("*", frozenset(range(7)))), None]))
    minute, hour = draw(fields(0, 59)), draw(fields(0, 23))
    day, weekday = days or (draw(fields(1, 31)), draw(fields(0, 6)))
    return [minute, hour, day, weekday]


@cache
def minutes(nth: int) -> list[tuple[datetime, datetime]]:
    """Each minute of four days around a change, with what the clock shows."""
    name, change = the_changes()[nth]
    start = change.at.replace(second=0) - timedelta(days=2)
    instants = (start + passed * MINUTE for passed in range(4 * 24 * 60))
    return [(at, at.astimezone(zone(name)).replace(tzinfo=None)) for at in instants]


def fires(expression: list[Field], wall: datetime) -> bool:
    (_, at_minutes), (_, hours), (day_text, days), (weekday_text, weekdays) = expression
    fit = (wall.day in days, wall.isoweekday() % 7 in weekdays)
    starred = day_text.startswith("*") or weekday_text.startswith("*")
    return wall.minute in at_minutes and wall.hour in hours and (all(fit) if starred else any(fit))


def watched(expression: list[Field], nth: int) -> Iterator[tuple[datetime, datetime]]:
    """When it fires, and for which time, found by looking at the clock each minute."""
    wildcard = expression[0][0].startswith("*") or expression[1][0].startswith("*")
    reached = minutes(nth)[0][1] - MINUTE
    for at, wall in minutes(nth):
        passed = [wall] if wildcard else [reached + n * MINUTE for n in range(1, (wall - reached) // MINUTE + 1)]
        named = [one for one in passed if fires(expression, one)]
        if named:
            yield at, named[-1]
        reached = max(reached, wall)


@settings(max_examples=60, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # to shrink one takes minutes
@given(expression=expressions(), nth=st.integers(0, 10**6), asked=st.integers(24 * 60, 3 * 24 * 60))
def test_slots_are_what_one_sees_on_the_clock(expression: list[Field], nth: int, asked: int) -> None:
    nth %= len(the_changes())
    name, _ = the_changes()[nth]
    minute, hour, day, weekday = (text for text, _ in expression)
    parsed = parse(f"{minute} {hour} {day} * {weekday}", name)
    after, until = minutes(nth)[asked][0], minutes(nth)[-1][0]
    seen = [slot for slot in watched(expression, nth) if slot[0] > after]
    slots, count = between(parsed, after, until, 10**6)
    assert [(slot.at, datetime.fromisoformat(slot.local)) for slot in slots] == seen
    assert count == len(seen)
    last: Slot | datetime = after
    assert [last := following(parsed, last) for _ in seen[:30]] == slots[:30]
