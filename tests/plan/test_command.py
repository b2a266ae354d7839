"""`crontick plan`, as a person calls it."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import psycopg
import pytest

from crontick.handler.plan import history
from crontick.handler.plan.prices import Prices, read_prices
from tests.cli.conftest import Command

ROOT = Path(__file__).parents[2]
RATES = ("--jobs-per-day", "200", "--due-moments-per-day", "40")
CADENCES = ["1 min", "5 min", "15 min", "30 min", "60 min", "wake"]


def told(cli: Command, *options: str) -> dict[str, Any]:
    answer = cli("plan", *options, "--json")
    assert answer.status == 0, answer.err
    return {one["cadence"]: one for one in answer.json["cadences"]}


def test_rates_need_no_database_and_the_picture_shows_every_cadence(bare: Command, tmp_path: Path) -> None:
    answer = bare("plan", *RATES, "--plot", str(tmp_path / "plan.svg"))
    assert (answer.status, [line[0] for line in answer.lines]) == (0, CADENCES)
    assert "6,000 jobs, due at 1,200 moments in 30d" in answer.err
    assert answer.err.count("they change: check") == 1
    drawn = ET.fromstring((tmp_path / "plan.svg").read_text())
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert [text for text in texts if text in CADENCES] == CADENCES
    said = drawn.findtext("{http://www.w3.org/2000/svg}desc")
    assert said is not None
    assert f"60 min: 30m 7s, {answer.lines[4][9]}" in said


def test_a_terminal_of_eighty_columns_cuts_nothing() -> None:
    ours, theirs = pty.openpty()
    script = "import sys; from crontick.handler.cli.run import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", script, "plan", *RATES]
    subprocess.run(command, stdout=theirs, check=True, env={**os.environ, "COLUMNS": "80"})
    os.close(theirs)
    drawn = os.read(ours, 65536).decode()
    os.close(ours)
    assert "github minutes" in drawn
    assert "…" not in drawn
    assert len(drawn.splitlines()) == 2 * (1 + len(CADENCES))


def test_an_empty_history_says_what_to_give(cli: Command) -> None:
    answer = cli("plan")
    assert answer.status == 2
    assert "crontick plan --jobs-per-day 200" in answer.err


def test_a_history_with_retries_a_slot_and_a_cancelled_job(
    cli: Command, sync_conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sync_conn.execute("select set_config('crontick.now', '2026-11-30 12:00Z', false)")
    name = sync_conn.info.dbname
    sync_conn.execute(f"alter database {name} set \"crontick.now\" = '2026-11-30 12:00Z'".encode())
    jobs = [  # created, run, started, claimed
        ("01:00:30", "09:00:00", "09:10", "09:10"),  # ran once
        ("10:15:00", "10:02:00", "10:15", "10:15"),  # a slot: made late by the tick that ran it
        ("09:30:10", "10:40:20", "09:45", "10:45"),  # failed twice, then succeeded
        ("08:00:00", "11:59:00", None, None),  # cancelled before it began
    ]
    for nth, (created, run, started, claimed) in enumerate(jobs, 1):
        sync_conn.execute(
            "insert into crontick.finished_jobs (id, created_at, run_at, started_at, claimed_at, finished_at, priority,"
            " attempt, kind, queue, status, payload) select %s, d + %s, d + %s, d + %s, d + %s, d + '11:59', 0, 1,"
            " 'note', 'default', %s, '{}' from (select timestamptz '2026-11-30 00:00Z') as t (d)",
            (nth, created, run, started, claimed, "succeeded" if started else "cancelled"),
        )
    for ended, retry in (("09:45:01", "10:00:30"), ("10:15:01", "10:40:20")):
        sync_conn.execute(
            "insert into crontick.attempts (job, claim, ended_at, retry_at, number, retryable, kind, outcome)"
            " select 3, 1, d + %s, d + %s, 1, true, 'note', 'failed'"
            " from (select timestamptz '2026-11-30 00:00Z') as t (d)",
            (ended, retry),
        )
    sync_conn.execute(
        "insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, claimed)"
        " select n, at, at, at, at + n * interval '10 seconds', n * 2"
        " from (select timestamptz '2026-11-30 09:10Z') as t (at), generate_series(0, 2) as n"
    )
    answer = cli("plan", "--within", "1d", "--json").json
    assert answer["history"] == {
        "starts_at": "2026-11-30T09:00:00Z",
        "ends_at": "2026-11-30T12:00:00Z",
        "jobs": 5,
        "due_moments": 5,
        "job_seconds": (10 + 20) / (2 + 4),
    }
    by_name = {one["cadence"]: one for one in answer["cadences"]}
    waits = [0, 15 * 60, 59 * 60 + 30, 58 * 60, 19 * 60 + 40]  # 9:00, 9:45, 10:00:30, 10:02, 10:40:20 for whole hours
    assert by_name["60 min"]["mean_delay_seconds"] == pytest.approx(sum(waits) / 5)
    assert by_name["60 min"]["wakes"] == pytest.approx(3 * 240)
    # 9:46 (known when it was due), 9:00, 10:01, 10:02 (a slot is known before), 10:41
    assert by_name["wake"]["wakes"] == pytest.approx(5 * 240)
    assert by_name["wake"]["mean_delay_seconds"] == pytest.approx((60 + 0 + 30 + 0 + 40) / 5)
    assert cli("plan", "--within", "1d", "--job-seconds", "9", "--json").json["history"]["job_seconds"] == 9
    monkeypatch.setattr(history, "MOMENTS_AT_MOST", 3)
    latest = cli("plan", "--within", "1d", "--json").json["history"]
    assert (latest["due_moments"], latest["starts_at"]) == (3, "2026-11-30T10:00:30Z")
    sync_conn.execute(f"alter database {name} set \"crontick.now\" = '2026-11-30 11:00Z'".encode())
    assert cli("plan", "--within", "30m").status == 2, "less than an hour tells nothing of a month"


def test_a_file_of_prices_stands_in_table_by_table(bare: Command, tmp_path: Path) -> None:
    file = tmp_path / "prices.toml"
    file.write_text("[database_cu_hour]\nusd = 1\nfree = 100\n[assumed]\ndatabase_cu = 1\n")
    shipped, mine = told(bare, *RATES), told(bare, *RATES, "--prices", str(file))
    assert mine["5 min"]["database_usd"] == pytest.approx(720 - 100)
    assert mine["5 min"]["github_usd"] == shipped["5 min"]["github_usd"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[database]\nusd = 1", "unknown field `database`"),
        ("[github_minute]\nfree = 1", "missing required field `usd`"),
        ("[github_minute]\nusd = '1'", "Expected `float`, got `str`"),
        ("[github_minute]\nusd = -1", "usd = -1 must be a number from 0 on"),
        ("[github_minute]\nusd = nan", "usd = nan must be a number from 0 on"),
        ("[github_minute]\nusd = 1\nper = 0", "per = 0 must be a number from 0 on"),
        ("github_minute = 1", "write [github_minute]"),
        ("[github_minute", "at end of document"),
    ],
)
def test_what_is_wrong_with_a_file_of_prices_is_told(bare: Command, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "p.toml").write_text(text)
    answer = bare("plan", *RATES, "--prices", str(tmp_path / "p.toml"))
    assert answer.status == 2
    assert said.replace(" ", "") in re.sub(r"[\s│]+", "", answer.err)


def test_rates_that_contradict_each_other_are_refused(bare: Command) -> None:
    assert bare("plan", "--jobs-per-day", "10", "--due-moments-per-day", "20").status == 2
    assert bare("plan", *RATES, "--safety", "10s").status == 2
    assert bare("plan", *RATES, "--prices", "none.toml").status == 2


def test_each_price_that_ships_has_its_date_and_its_source() -> None:
    table = msgspec.to_builtins(read_prices())
    assert list(table) == list(Prices.__struct_fields__)
    for name, price in table.items():
        if name != "assumed":
            assert price["dated"] >= "2026-01-01", name
            assert price["source"].startswith("https://"), name


def test_the_example_of_the_page_is_what_the_command_says(bare: Command) -> None:
    page = (ROOT / "docs" / "plan.md").read_text()
    shown = [" ".join(line.split()) for line in page.splitlines()]
    for line in bare("plan", *RATES).lines:
        for cells in (line[:6], line[:1] + line[6:]):
            assert " ".join(cell for cell in cells if cell) in shown
