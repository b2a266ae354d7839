"""A terminal that speaks when something happened, and is quiet otherwise."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from crontick.handler.dev.lines import Lines
from crontick.handler.dev.summaries import CLOCK, TRIGGER, Summaries

Said = Callable[[], list[str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """The sentences since it was last asked."""
    return lambda: [json.loads(line)["message"] for line in capsys.readouterr().out.splitlines()]


def summary(**fields: Any) -> dict[str, Any]:
    empty = {
        "tick": 7,
        "ran": True,
        "trigger": TRIGGER,
        "reminders": {},
        "warnings": [],
        "errors": [],
        "next_due_at": None,
    }
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
        summaries.tell(summary(warnings=[CLOCK]), 101)
    assert said() == [f"warning: {CLOCK}"]


def test_the_clock_of_a_database_of_its_own_is_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    Summaries(Lines(as_json=True), 100, own_clock=True).tell(summary(claimed=1, warnings=[CLOCK, "another"]), 101)
    warning, told = map(json.loads, capsys.readouterr().out.splitlines())
    assert (warning["message"], told["warnings"]) == ("warning: another", ["another"])


def test_a_tick_that_somebody_called_is_told_with_who_it_was(said: Said) -> None:
    Summaries(Lines(as_json=True), 100).tell(summary(claimed=1, succeeded=1, trigger="curl"), 101)
    assert said() == ["7: claimed 1, succeeded 1 (4 ms, called by curl)"]


def test_errors_of_reminders_are_told_beside_those_of_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    errors = [{"job": 3, "kind": "hello", "error": "ValueError"}, {"reminder": "booking", "error": "a bad query"}]
    Summaries(Lines(as_json=True), 100).tell(summary(claimed=1, failed=1, errors=errors), 101)
    text = json.loads(capsys.readouterr().out)["text"]
    assert text.splitlines() == ["job 3 (hello): ValueError", "reminder booking: a bad query"]


def test_trouble_is_told_when_it_begins_and_when_it_begins_again(said: Said) -> None:
    summaries = Summaries(Lines(as_json=True), 100)
    for _ in range(2):
        summaries.tell({"ran": False, "reason": "paused"}, 101)
        summaries.tell({"ran": False, "reason": "paused"}, 102)
        summaries.tell({"ran": False, "reason": "busy"}, 103)
        summaries.tell(summary(), 104)
    assert said() == ["no tick: paused", "no tick: busy"] * 2
