"""What calls the ticks: silence, gaps, and GitHub's limits."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.doctor.conftest import Conn, said, wrong

QUARTERS = 900


def called(owner: Conn, trigger: str, *, ticks: int, every_seconds: int = QUARTERS, until: str = "0 s") -> None:
    """So many calls at that pace, the last one so long ago."""
    owner.execute(
        b"insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, trigger)"
        b" select floor(random() * 1e15), now() - %s::interval - n * %s * interval '1 s', now(), now(), now(), %s"
        b" from generate_series(0, %s) as n",
        (until, every_seconds, trigger, ticks - 1),
    )


def committed(folder: Path, days_ago: float) -> None:
    at = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "a"}
    environ = {**who, "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_COMMITTER_DATE": at, "PATH": "/usr/bin:/bin"}
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "any"]):
        subprocess.run(["git", "-C", str(folder), *command], check=True, env=environ)


def test_a_trigger_that_went_silent(doctor: Command, owner: Conn) -> None:
    called(owner, "cloud-scheduler", ticks=50, until="3 hours")
    [sentence] = wrong(doctor)
    assert sentence.startswith("cloud-scheduler, which calls every 15m, has been silent for 3h: look at its own log")
    called(owner, "eventbridge", ticks=50)
    assert wrong(doctor) == [], "another one calls in its place"
    assert "has been silent for 3h: it was replaced, it seems" in said(doctor)


@pytest.mark.parametrize(("ticks", "every_seconds"), [(7, QUARTERS), (100, 5)])
def test_somebody_who_tried_something_out_is_no_trigger(
    doctor: Command, owner: Conn, ticks: int, every_seconds: int
) -> None:
    called(owner, "curl", ticks=ticks, every_seconds=every_seconds, until="2 days")
    assert wrong(doctor) == []
    assert "silent" not in said(doctor)


def test_a_gap_that_is_over(doctor: Command, owner: Conn) -> None:
    called(owner, "cloud-scheduler", ticks=20)
    called(owner, "cloud-scheduler", ticks=20, until="12 hours")
    assert "cloud-scheduler, which calls every 15m, once left 7h 1" in said(doctor)
    assert wrong(doctor) == []


def test_githubs_free_minutes(doctor: Command, owner: Conn) -> None:
    called(owner, "github-actions", ticks=96)
    assert "GitHub Actions calls about 2910 ticks a month" in said(doctor)


def test_calls_that_the_free_minutes_last_for(doctor: Command, owner: Conn) -> None:
    called(owner, "github-actions", ticks=30, every_seconds=1800)
    assert "ticks a month" not in said(doctor)
    assert "run `crontick doctor` in the checkout that has the workflow" in said(doctor)


@pytest.mark.parametrize(
    ("days", "silence", "found"),
    [(3, "0 s", 0), (50, "0 s", 1), (70, "0 s", 0), (70, "11 days", 1)],
    ids=["busy", "soon", "private, it seems", "stopped"],
)
def test_githubs_sixty_days(
    doctor: Command, owner: Conn, tmp_path: Path, days: float, silence: str, found: int
) -> None:
    called(owner, "github-actions", ticks=30, every_seconds=1800, until=silence)
    committed(tmp_path, days)
    sentences = [sentence for sentence in wrong(doctor) if "the last commit of this checkout" in sentence]
    assert len(sentences) == found
    assert all(sentence.startswith(f"the last commit of this checkout is {days}d") for sentence in sentences)
