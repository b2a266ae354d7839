"""The schedules in force are seen, run and checked from the command line."""

from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Command

NIGHTLY = """
[[schedule]]
name = "nightly"
cron = "30 2 * * *"
tz = "Europe/Berlin"
kind = "greet"
payload = { name = "Ada" }
"""


@pytest.fixture
def nightly(cli: Command, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """A deployment with one schedule, two days before a night on which the clock goes back."""
    said(NIGHTLY, tmp_path, monkeypatch)
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("update crontick.test_clock set ahead = timestamptz '2027-10-29 12:00Z' - statement_timestamp()")
    assert cli("migrate").status == 0
    return cli


def said(config: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crontick.toml").write_text(config)
    monkeypatch.setenv("CRONTICK_CONFIG", str(tmp_path / "crontick.toml"))


def test_each_schedule_is_listed_with_its_next_five_times(nightly: Command) -> None:
    [told] = nightly("schedules", "list", "--json").json
    assert (told["name"], told["kind"], told["why"]) == ("nightly", "greet", "is next at 2027-10-30 00:30:00 UTC")
    days = ("30T00:30", "31T00:30", "01T01:30", "02T01:30", "03T01:30")
    assert [at[8:16] for at in told["next"]] == list(days)
    shown = nightly("schedules", "list").out
    assert "next      2027-10-30 00:30:00Z, 2027-10-31 00:30:00Z, 2027-11-01 01:30:00Z" in shown


def test_no_schedules_are_told(cli: Command) -> None:
    answer = cli("schedules", "list")
    assert (answer.status, answer.out, answer.err) == (0, "", "no schedules are in force\n")


def test_one_is_run_now_once(nightly: Command) -> None:
    job = nightly("schedules", "run", "nightly", "--by", "ann", "--reason", "month end", "--json").json["job"]
    shown = nightly("show", str(job), "--json").json
    assert shown["payload"] == {"name": "Ada", "$schedule": {"by": "ann", "name": "nightly"}}
    again = nightly("schedules", "run", "nightly", "--by", "ann")
    assert again.status == 1
    assert again.err.startswith(f"job {job} of schedule nightly is still unfinished, and its overlap is skip (hurry")
    assert nightly("tick", "--json").json["succeeded"] == 1
    assert nightly("schedules", "run", "nightly").status == 0


@pytest.mark.parametrize("command", [("schedules", "run", "weekly"), ("pause", "schedule", "weekly")])
def test_a_schedule_that_is_not_there_is_told(nightly: Command, command: tuple[str, ...]) -> None:
    answer = nightly(*command)
    assert (answer.status, answer.err) == (1, "there is no schedule weekly (`crontick schedules list`)\n")


def test_a_paused_one_says_so_and_goes_on(nightly: Command) -> None:
    assert nightly("pause", "schedule", "nightly", "--by", "ann").status == 0
    assert "is paused since" in nightly("schedules", "list").out
    assert nightly("resume", "schedule", "nightly", "--by", "ann").status == 0
    assert nightly("schedules", "list", "--json").json[0]["why"].startswith("is next at")


def test_the_check_names_the_line_of_what_is_wrong(
    cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = NIGHTLY.replace("30 2 * * *", "30 24 * * *") + NIGHTLY.replace("nightly", "other").replace(
        "Europe/Berlin", "Europe/Berlim"
    )
    bad += NIGHTLY.replace("nightly", "third").replace('name = "Ada" }', "name = 3 }")
    said(bad, tmp_path, monkeypatch)
    answer = cli("check", "--offline")
    assert answer.status == 1
    wrong = [line for line in answer.out.splitlines() if line.startswith("! crontick.toml")]
    assert [line.split(" ")[1] for line in wrong] == ["crontick.toml:4:", "crontick.toml:12:", "crontick.toml:21:"]
    assert "24" in wrong[0]
    assert "Europe/Berlim" in wrong[1]
    assert "payload does not fit" in wrong[2]


def test_status_counts_schedules_that_something_keeps(nightly: Command, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("update crontick.declared_schedules set skips_in_a_row = 3")
    answer = nightly("status")
    assert answer.status == 1
    assert "! schedules that something keeps from their slots: 1: `crontick schedules list`" in answer.out
