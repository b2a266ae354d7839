"""Ticks that come by, early or late, find each slot once, whatever the clocks did and whoever edited the expression."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crontick.jobs.slots import Slot, between, following, parse

ROOT = Path(__file__).parents[2]


def fired(text: str, zone: str, start: datetime, *, days: float, every: timedelta) -> list[str]:
    """The slots of ticks that come so often, each slot with the tick that fired it."""
    last, now, slots = following(parse(text, zone), start - timedelta(days=8)), start, []
    while now < start + timedelta(days=days):
        now += every
        latest, _ = between(parse(text, zone), last, now, 1)
        for slot in latest:
            last = slot
            if slot.at > start:
                slots.append(f"{slot.at:%Y-%m-%dT%H:%MZ}")
    return slots


def test_a_weekly_job_fires_once_on_the_day_after_the_clocks_went_back() -> None:
    monday = fired(
        "0 6 * * mon", "Europe/Riga", datetime(2021, 10, 30, tzinfo=UTC), days=4, every=timedelta(minutes=10)
    )
    assert monday == ["2021-11-01T04:00Z"]


def test_a_quarter_of_an_hour_goes_on_through_the_repeated_hour() -> None:
    start, quarter = datetime(2021, 10, 30, 23, tzinfo=UTC), timedelta(minutes=15)
    slots = fired("*/15 * * * *", "Europe/Riga", start, days=1 / 6, every=timedelta(minutes=10))
    assert slots == [f"{start + nth * quarter:%Y-%m-%dT%H:%MZ}" for nth in range(1, 17)]


def test_a_week_without_ticks_is_one_slot_and_six_that_were_missed() -> None:
    last = following(parse("0 7 * * *", "UTC"), datetime(2026, 11, 1, tzinfo=UTC))
    [latest], count = between(parse("0 7 * * *", "UTC"), last, datetime(2026, 11, 8, 12, tzinfo=UTC), 1)
    assert (f"{latest.at:%d %H}", count) == ("08 07", 7)
    assert f"{following(parse('0 7 * * *', 'UTC'), latest).at:%d %H}" == "09 07"


@pytest.mark.parametrize("edited", ["0 9 * * 1-5", "0 8 * * *", "0 9,8 * * *", "0 09 * * *", "0 7-9 * * *"])
def test_an_edit_of_the_expression_fires_no_time_again(edited: str) -> None:
    at = datetime(2026, 12, 1, 8, tzinfo=UTC)
    nine = Slot(at, "2026-12-01T09:00:00", 0)
    assert following(parse(edited, "Europe/Berlin"), nine).local > "2026-12-02"


def test_what_a_slot_is_does_not_depend_on_when_one_asks() -> None:
    slot = following(parse("30 2 * * *", "Europe/Berlin"), datetime(2026, 12, 1, tzinfo=UTC))
    for hours in range(1, 25):
        asked = slot.at - timedelta(hours=hours, seconds=-1)
        assert following(parse("30 2 * * *", "Europe/Berlin"), asked) == slot


def test_neither_expressions_nor_zone_data_are_read_until_one_is_asked_for() -> None:
    program = "import sys, crontick.jobs.slots; print({'cronsim', 'tzdata', 'crontick.jobs.fit'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(
    "path",
    sorted(path for path in (ROOT / "sql").rglob("*.sql") if path.stem != "compare_zone_offsets"),
    ids=lambda path: path.stem,
)
def test_no_statement_asks_the_database_for_its_own_zone_data(path: Path) -> None:
    """They are as old as the server's host, and would not agree with those of slots: the doctor compares them."""
    said = path.read_text().lower().replace("at time zone 'utc'", "")
    assert "at time zone" not in said
    assert "timezone(" not in said
