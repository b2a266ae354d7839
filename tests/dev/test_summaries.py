"""A terminal that speaks when something happened, and is quiet otherwise."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from crontick.handler.dev.lines import Lines
from crontick.handler.dev.summaries import Summaries

Said = Callable[[], list[str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """The sentences since it was last asked."""
    return lambda: [json.loads(line)["message"] for line in capsys.readouterr().out.splitlines()]


def summary(**fields: Any) -> dict[str, Any]:
    empty = {"tick": 7, "ran": True, "reminders": {}, "warnings": [], "errors": [], "next_due_at": None}
    return {**empty, "duration_ms": 4, "claimed": 0, **fields}


def test_an_idle_tick_is_told_once_a_minute(said: Said) -> None:
    summaries = Summaries(Lines(as_json=True), 100)
    summaries.tell(summary(), 159)
    assert said() == []
    summaries.tell(summary(), 160)
    summaries.tell(summary(next_due_at="2026-11-30T09:15:00Z"), 219)
    assert said() == ["nothing was due for a minute; no job waits"]
    summaries.tell(summary(next_due_at="2026-11-30T09:15:00Z"), 220)
    assert said() == ["nothing was due for a minute; the next job is due at 2026-11-30T09:15:00Z"]


def test_what_a_tick_did_is_one_line(said: Said) -> None:
    summaries = Summaries(Lines(as_json=True), 100)
    reminders = {"booking": {"fired": 2, "skipped_late": 0}, "trial": {"fired": 0, "skipped_late": 1}}
    summaries.tell(summary(claimed=3, succeeded=2, failed=1, lost=0, reminders=reminders), 101)
    assert said() == ["7: claimed 3, succeeded 2, failed 1, booking: 2 reminders (4 ms)"]
    summaries.tell(summary(), 160)
    assert said() == []


def test_a_warning_is_told_once(said: Said) -> None:
    summaries = Summaries(Lines(as_json=True), 100)
    for _ in range(2):
        summaries.tell(summary(warnings=["the test clock is installed"]), 101)
    assert said() == ["warning: the test clock is installed"]


def test_trouble_is_told_when_it_begins_and_when_it_begins_again(said: Said) -> None:
    summaries = Summaries(Lines(as_json=True), 100)
    for _ in range(2):
        summaries.tell({"ran": False, "reason": "paused"}, 101)
        summaries.tell({"ran": False, "reason": "paused"}, 102)
        summaries.trouble("no tick: the database is out of reach", 103)
        summaries.tell(summary(), 104)
    assert said() == ["no tick: paused", "no tick: the database is out of reach"] * 2
