"""Reports from the command line: waited for, listed, linked to, downloaded."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from crontick.jobs.kinds.signature import new_secret
from tests.cli.conftest import Command, bare, cli
from tests.reports.conftest import SALES
from tests.worlds.process import Processes

__all__ = ["bare", "cli"]
MAIN = "from crontick.handler.cli import main; main()"
START = ("enqueue", "generate_report", '{"report": "sales"}')


@pytest.fixture
def sales(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """25 rows to report, and a folder to be in."""
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("create table sales as select n as id, 'b' as buyer, 1 as amount from generate_series(1, 25) as n")
        conn.execute("analyze sales")
    config = tmp_path / "crontick.toml"
    config.write_text(SALES)
    monkeypatch.setenv("CRONTICK_CONFIG", str(config))
    monkeypatch.chdir(tmp_path)
    return database


@pytest.mark.usefixtures("sales")
def test_a_report_is_listed_and_downloaded_once(cli: Command) -> None:
    run = cli(*START).out.strip()
    assert cli("report", "download", run).status == 1
    cli("tick")
    [row] = cli("report", "list", "--json").json
    assert (str(row["id"]), row["status"], row["row_count"]) == (run, "succeeded", 25)
    answer = cli("report", "download", run)
    assert (answer.status, answer.out) == (0, f"sales-{run}.csv: {row['byte_count']} bytes\n")
    assert Path(f"sales-{run}.csv").read_text().splitlines()[-1] == "25,b,1"
    assert "is there already" in cli("report", "download", run).err


@pytest.mark.usefixtures("sales")
def test_a_link_says_what_it_lacks(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "CRONTICK_PUBLIC_URL is not set" in cli("report", "link", "7").err
    monkeypatch.setenv("CRONTICK_PUBLIC_URL", "https://app.example/")
    assert "CRONTICK_SIGNING_SECRET is not set" in cli("report", "link", "7").err
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", new_secret())
    assert cli("report", "link", "7", "--lasts", "8d").status == 2
    assert cli("report", "link", "7", "--lasts", "1d").out.startswith("https://app.example/api/reports/7/download?")
    assert cli("report", "link", "7", "--progress").out.startswith("https://app.example/api/reports/7?expires=")


@pytest.mark.usefixtures("sales")
def test_waiting_tells_how_far_it_is_line_by_line(cli: Command, processes: Processes) -> None:
    child = processes.start(MAIN, *START, "--wait")
    run = child.line()
    assert child.line() == "queued 0"
    cli("tick", "--limit", "1")
    while (told := child.line()) == "running 0":
        continue  # it looked while the first part was being read
    assert told == "running 10 of about 25"
    cli("tick")
    while (told := child.line()).startswith("running"):
        continue  # it looked between two parts
    assert told == "succeeded 25"
    assert child.wait() == 0
    assert cli("report", "list").lines[0][0] == run


@pytest.mark.usefixtures("sales")
def test_waiting_for_what_fails_exits_with_one(cli: Command, processes: Processes) -> None:
    wrong = ("enqueue", "generate_report", '{"report": "sales", "parameters": {"x": 1}}', "--wait", "--json")
    child = processes.start(MAIN, *wrong)
    # The one tick may come before the job: the command is still starting.
    while not cli("tick", "--json").json["claimed"]:
        assert child.process.poll() is None, child.errors
    assert child.wait() == 1
    assert '"status": "failed"' in child.line()
    assert "there is no parameter 'x'" in child.errors


@pytest.mark.usefixtures("sales")
def test_waiting_on_a_terminal_draws_a_bar(cli: Command) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", MAIN, *START, "--wait"]
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ) as waiting:
        os.close(theirs)
        while not cli("tick", "--json").json["claimed"]:
            assert waiting.poll() is None
        assert waiting.wait(30) == 0
        drawn = os.read(ours, 2**16).decode()
    os.close(ours)
    assert "succeeded" in drawn
    assert "━━━" in drawn
    assert "25/25" in drawn
