"""What is wrong with a ``[wake]`` is told with the mend, before an alarm is missed."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crontick.jobs.config import read_config
from crontick.jobs.config_error import ConfigError
from crontick.jobs.summary import Summary
from crontick.jobs.wake.after_tick import due_next
from crontick.jobs.wake.alarm import alarm_for
from tests.cli.conftest import Command, bare
from tests.wake.conftest import EVENTBRIDGE

__all__ = ["bare"]

URL = '[wake]\nprovider = "url"\nurl = "https://alarms.example/v1"\n'
ARNS = 'target_arn = "arn:aws:lambda:x:1:function:f"\nrole_arn = "arn:aws:iam::1:role/r"\n'
FAULTS = (
    ('[wake]\nprovider = "cron"\n', "provider"),
    ('[wake]\nprovider = "eventbridge"\n', "give target_arn or target_arn_env"),
    ('[wake]\nprovider = "eventbridge"\ntarget_arn = "f"\nrole_arn = "r"\n', "target_arn is no ARN, such as arn:aws"),
    (f'[wake]\nprovider = "eventbridge"\n{ARNS}url = "https://a.example"\n', "url belongs to the other provider"),
    (f'[wake]\nprovider = "eventbridge"\n{ARNS}precision = "5s"\n', "precision is a minute at least"),
    ('[wake]\nprovider = "url"\n', "url is missing"),
    ('[wake]\nprovider = "url"\nurl = "http://1.1.1.1/x"\n', "in plain http: write https://"),
    ('[wake]\nprovider = "url"\nurl = "https://169.254.169.254/x"\n', "metadata is never asked"),
    (URL + 'role_arn = "arn:aws:iam::1:role/r"\n', "role_arn belongs to the other provider"),
    (URL + 'body = "{{when}}"\n', "{{when}} is filled in by nobody: there are name, wake_at, wake_at_seconds"),
    (URL + 'secrets_env = { name = "X" }\n', "secrets_env has name, which is no name of a placeholder of yours"),
    (URL + 'precision = "0s"\n', "precision is a second at least and an hour at most"),
    (URL + 'timeout = "31s"\n', "timeout must be longer than nothing and at most 30 s"),
    (URL + f'body = "{"x" * 16385}"\n', "body"),
)
MOMENTS = (  # now, due at, precision in seconds, the alarm
    ("12:00:00", "12:30:00", 60, "12:30:00"),
    ("12:00:00", "12:30:01", 60, "12:31:00"),
    ("12:00:00", "11:00:00", 60, "12:01:00"),
    ("12:00:54", "12:00:55", 60, "12:01:00"),
    ("12:00:56", "12:00:57", 60, "12:02:00"),
    ("12:00:00", "12:30:01", 1, "12:30:01"),
    ("12:00:00", "12:00:01", 1, "12:00:05"),
    ("12:00:00", "12:30:01", 900, "12:45:00"),
)


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-30T{clock}+00:00")


def test_each_fault_is_told() -> None:
    for text, said in FAULTS:
        with pytest.raises(ConfigError) as raised:
            read_config(text)
        assert said in str(raised.value), text


def test_an_alarm_is_rounded_up_and_never_so_near_that_it_may_have_passed() -> None:
    for now, due, seconds, alarm in MOMENTS:
        found = alarm_for(at(due), now=at(now), precision=timedelta(seconds=seconds))
        assert (found.at, found.at.tzinfo) == (at(alarm), UTC), (now, due, seconds)
    assert found.name("a", "b").startswith("crontick-20261130T124500Z-")
    assert len({found.name(*call) for call in (("a", "b"), ("ab", ""), ("a", "c"))}) == 3


def test_reminders_are_looked_for_at_midnight_at_the_latest() -> None:
    now, later = at("12:00:00"), at("12:00:00") + timedelta(days=3)
    found = [due_next(Summary("a", next_due_at=due), now, reminds=True) for due in (None, later, at("13:00:00"))]
    assert found == [at("00:00:00") + timedelta(days=1)] * 2 + [at("13:00:00")]
    assert due_next(Summary("a", not_run="paused", next_due_at=later), now, reminds=True) is None
    assert due_next(Summary("a", not_run="busy", next_due_at=later), now, reminds=False) == later
    assert due_next(Summary("a", more=True, next_due_at=later), now, reminds=False) == now


def test_check_names_what_is_missing_and_whom_is_asked(
    bare: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crontick.toml").write_text(EVENTBRIDGE)
    said = bare("check", "--offline")
    told = said.out + said.err
    assert "WAKE_ROLE_ARN is not set, and [wake] of crontick.toml needs it" in told
    assert "AWS_REGION is not set" in told
    assert "alarms are asked of EventBridge Scheduler, rounded up to 1m; keep a slow schedule beside them" in told
    monkeypatch.setenv("WAKE_ROLE_ARN", "crontick-wake")
    said = bare("check", "--offline")
    assert "WAKE_ROLE_ARN is no ARN" in said.out + said.err
