"""A summary tells what a tick did, in less than 2 KB unless asked for more."""

from datetime import datetime, timedelta, timezone

import msgspec

from crontick.jobs.summary import Fired, Summary, Trouble, WouldRun


def crowded() -> Summary:
    """A summary with more to tell than any caller wants to read."""
    summary = Summary(trigger="curl", tick=2**63 - 1, claimed=1000)
    for nth in range(50):
        summary.reminders[f"reminder_{nth:02}_{'é' * 50}"] = Fired(fired=nth, skipped_late=1)
        summary.warn(f"warning {nth} " + "ü" * 500)
        summary.trouble(Trouble(job=nth, kind="k" * 64, error="ö" * 2000))
    return summary


def test_the_answer_of_a_quiet_tick_has_every_field_of_the_design() -> None:
    answer = Summary(trigger="curl", tick=4182).as_dict()
    assert list(answer) == [
        "tick",
        "ran",
        "trigger",
        "stop_reason",
        "claimed",
        "succeeded",
        "failed",
        "dead",
        "snoozed",
        "cancelled",
        "handed_back",
        "duplicates",
        "rescued",
        "lost",
        "scheduled",
        "asked",
        "reminders",
        "more",
        "next_due_at",
        "oldest_due_seconds",
        "late_seconds",
        "duration_ms",
        "warnings",
        "errors",
    ]


def test_a_crowded_answer_stays_under_two_kilobytes() -> None:
    answer = crowded().as_dict()
    assert len(msgspec.json.encode(answer)) < 2048
    assert answer["claimed"] == 1000
    assert answer["errors"][0]["job"] == 0


def test_reminders_that_are_not_named_are_added_up() -> None:
    reminders = crowded().as_dict()["reminders"]
    assert sum(fired["fired"] for fired in reminders.values()) == sum(range(50))


def test_a_verbose_answer_shortens_nothing_and_still_has_five_errors() -> None:
    answer = crowded().as_dict(verbose=True)
    assert len(answer["reminders"]) == 50
    assert len(answer["warnings"]) == 50
    assert [error["error"] for error in answer["errors"]] == ["ö" * 2000] * 5


def test_an_error_names_its_job_or_its_reminder() -> None:
    summary = Summary(trigger="curl")
    summary.trouble(Trouble(job=991, kind="deliver_webhook", error="503 from crm.example"))
    summary.trouble(Trouble(reminder="booking_24h", error="the query failed (42P01)"))
    assert summary.as_dict()["errors"] == [
        {"job": 991, "kind": "deliver_webhook", "error": "503 from crm.example"},
        {"reminder": "booking_24h", "error": "the query failed (42P01)"},
    ]


def test_a_tick_that_did_not_run_says_why() -> None:
    answer = Summary(trigger="curl", not_run="paused", rescued=2).as_dict()
    assert (answer["ran"], answer["reason"], answer["rescued"]) == (False, "paused", 2)
    assert "claimed" not in answer


def test_a_dry_run_lists_what_would_run() -> None:
    summary = Summary(trigger="curl", would_run=[WouldRun(nth, "send_email", "mail") for nth in range(1000)])
    assert len(summary.as_dict(verbose=True)["would_run"]) == 1000
    assert len(msgspec.json.encode(summary.as_dict())) < 2048
    assert summary.as_dict()["would_run"][0] == {"job": 0, "kind": "send_email", "queue": "mail"}


def test_the_next_due_moment_is_told_in_utc() -> None:
    moment = datetime(2026, 11, 30, 10, 15, tzinfo=timezone(timedelta(hours=1)))
    assert Summary(trigger="curl", next_due_at=moment).as_dict()["next_due_at"] == "2026-11-30T09:15:00Z"


def test_the_same_warning_is_kept_once() -> None:
    summary = Summary(trigger="curl")
    summary.warn("the clock of this database is a test clock")
    summary.warn("the clock of this database is a test clock")
    assert len(summary.warnings) == 1
