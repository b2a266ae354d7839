"""``run`` gives the outcome of one attempt, without a job in the database."""

import logging
import threading
from pathlib import Path
from typing import Any

import pytest

from crontick.jobs import PayloadError
from crontick.jobs.testing import Cancelled, Dead, Failed, Snoozed, Succeeded, run, run_async
from tests.testing.kinds import Number, double, double_in_thread, once, once_in_thread, parent, sleep, steer, write


@pytest.mark.parametrize(
    ("payload", "attempt", "expected"),
    [
        ("permanent", 1, Dead),
        ("retry", 1, Failed),
        ("retry", 2, Dead),
        ("snooze", 1, Snoozed),
        ("snooze", 9, Snoozed),
        ("cancel", 1, Cancelled),
        ("error", 1, Failed),
        ("error", 2, Dead),
    ],
)
def test_a_function_steers_its_outcome(payload: str, attempt: int, expected: type) -> None:
    assert type(run(steer, payload, attempt)) is expected


def test_an_outcome_has_the_result_as_json_and_the_delay_of_the_backoff() -> None:
    assert run(double, Number(21)) == Succeeded("42")
    assert run(steer, "snooze") == Snoozed(3600)
    failed = run(steer, "error")
    assert isinstance(failed, Failed)
    assert 60 <= failed.retry_seconds <= 66
    assert "a bug" in failed.error


def test_a_kind_is_as_the_file_of_the_project_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crontick.toml").write_text("[kinds.steer]\nmax_attempts = 3\n")
    monkeypatch.chdir(tmp_path)
    assert isinstance(run(steer, "error", attempt=2), Failed)
    monkeypatch.setenv("CRONTICK_MODULES", "tests.testing.kinds")
    assert isinstance(run(steer, "error", attempt=3), Dead)


def test_a_sync_function_runs_in_the_thread_of_the_test() -> None:
    outcome = run(double_in_thread, Number(1))
    assert isinstance(outcome, Succeeded)
    assert str(threading.get_ident()) in str(outcome.result)


@pytest.mark.parametrize("each", [once, once_in_thread])
def test_nobody_has_sent_what_is_marked(each: Any) -> None:
    assert run(each, Number(1)) == Succeeded('"first"')


def test_children_are_dropped_and_a_timeout_holds() -> None:
    assert run(parent, Number(1)) == Succeeded()
    outcome = run(sleep, Number())
    assert isinstance(outcome, Failed)
    assert outcome.public == "it did not end within 0.1 s"


def test_a_database_is_refused_and_drain_named() -> None:
    outcome = run(write, Number())
    assert isinstance(outcome, Failed)
    assert "use drain(conn)" in outcome.error


def test_a_payload_that_does_not_fit_is_refused() -> None:
    wrong: Any = {"value": "many"}
    with pytest.raises(PayloadError):
        run(double, wrong)


def test_the_traceback_of_an_error_is_logged_and_that_of_a_signal_is_not(caplog: pytest.LogCaptureFixture) -> None:
    run(steer, "error")
    run(steer, "retry")
    told, signal = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert "in steer\n    raise signals[payload]" in told
    assert "raise signals" not in signal


async def test_in_an_async_test_it_is_awaited() -> None:
    for each in (double, double_in_thread):
        assert isinstance(await run_async(each, Number(21)), Succeeded)


async def test_in_an_async_test_the_other_one_says_so() -> None:
    with pytest.raises(RuntimeError, match=r"await run_async\(…\)"):
        run(double, Number(21))
