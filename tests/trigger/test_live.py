"""The action's script against the real application and a real database."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.door.deployed import NOWHERE, environ, uvicorn
from tests.door.serving import TOKEN
from tests.trigger.calling import Runner
from tests.worlds.waiting import until

TEST_CLOCK = "warnings: 1 (crontick's log has them)"
"""Each tick warns of the clock that tests can set."""
MODULES = "tests.cli.acme,tests.trigger.acme"
Connection = psycopg.Connection[Any]


@contextmanager
def app(database: str, **settings: str) -> Iterator[str]:
    """The address of the application on this database."""
    with uvicorn(environ(database, CRONTICK_MODULES=MODULES, **settings)) as (host, port):
        yield f"http://{host}:{port}"


@dataclass(frozen=True, slots=True)
class Gate:
    """A job that has begun, and ends when it is let."""

    folder: Path

    def enqueue(self, conn: Connection) -> int:
        payload = json.dumps({"begun": str(self.folder / "begun"), "opened": str(self.folder / "opened")})
        row = conn.execute("select crontick.enqueue('wait_at_the_gate', %s)", [payload]).fetchone()
        assert row is not None
        return int(row[0])

    def begun(self) -> bool:
        return (self.folder / "begun").exists()

    def open(self) -> None:
        (self.folder / "opened").touch()


def ended(conn: Connection, job: int) -> tuple[str, int] | None:
    """How a job ended and by which attempt; None while it has not."""
    return conn.execute(
        "select status, attempt from crontick.jobs where id = %s and finished_at is not null", [job]
    ).fetchone()


def test_a_run_ticks_and_tells_counts_only(runner: Runner, database: str, sync_conn: Connection) -> None:
    sync_conn.execute("select crontick.enqueue('greet'), crontick.enqueue('break_at_once', '{\"name\": \"private\"}')")
    with app(database) as url:
        told = runner.run(url)
    assert (told.status, told.outputs["claimed"], told.outputs["succeeded"], told.outputs["dead"]) == (0, "2", "1", "1")
    dead = "jobs that died and wait for a person: 1 (`crontick dead list`)"
    test_clock_and_alert = "warnings: 2 (crontick's log has them)"
    assert told.commands("warning") == [dead, test_clock_and_alert]
    assert sync_conn.execute("select trigger, claimed from crontick.ticks").fetchall() == [("github-actions", 2)]
    assert not {"private", "break_at_once", "Permanent"} & set(told.log.split())


def test_more_than_one_tick_can_take_is_drained(runner: Runner, database: str, sync_conn: Connection) -> None:
    sync_conn.execute("select crontick.enqueue('greet') from generate_series(1, 25)")
    with app(database) as url:
        told = runner.run(url, TICK_LIMIT="10")
    assert (told.outputs["succeeded"], told.outputs["more"]) == ("25", "false")
    assert sync_conn.execute("select claimed from crontick.ticks order by id").fetchall() == [(10,), (10,), (5,)]


def test_queues_and_kinds_are_served_as_asked(runner: Runner, database: str, sync_conn: Connection) -> None:
    sync_conn.execute("select crontick.enqueue('greet'), crontick.enqueue('greet', queue => 'other')")
    with app(database) as url:
        assert runner.run(url, TICK_QUEUES="other,third", TICK_KINDS="greet").outputs["claimed"] == "1"
        assert runner.run(url, TICK_KINDS="mail").outputs["claimed"] == "0"


def test_a_dry_run_claims_nothing(runner: Runner, database: str, sync_conn: Connection) -> None:
    sync_conn.execute("select crontick.enqueue('greet') from generate_series(1, 40)")
    with app(database) as url:
        told = runner.run(url, TICK_DRY_RUN="true")
    assert told.lines[1] == "dry run: 40 jobs would run"
    assert sync_conn.execute("select count(*) from crontick.jobs where status = 'queued'").fetchone() == (40,)


def test_a_call_that_comes_late_says_so(runner: Runner, database: str) -> None:
    with app(database) as url:
        told = runner.run(url, TICK_SCHEDULED_FOR="2026-01-01T00:00:00Z")
    _, late = told.commands("warning")
    assert re.fullmatch(r"this tick came [0-9]{8,} s late", late)


def test_a_wrong_token_a_wrong_address_and_a_wrong_field_are_told_apart(runner: Runner, database: str) -> None:
    with app(database) as url:
        refused = [
            runner.run(url, CRON_SECRET=TOKEN[:-1] + "x"),
            runner.run(f"{url}/elsewhere"),
            runner.run(url, TICK_SCHEDULED_FOR="yesterday"),
        ]
    assert [told.commands("error")[0].partition(": ")[0] for told in refused] == [
        f"the answer was {status}, application/problem+json" for status in (401, 404, 422)
    ]


def test_a_paused_deployment_is_no_error(runner: Runner, database: str) -> None:
    with app(database, CRONTICK_PAUSED="1") as url:
        told = runner.run(url)
    assert (told.status, told.outputs["ran"]) == (0, "false")
    assert told.commands("notice") == ["the tick ran nothing: crontick is paused"]


def test_a_database_that_nobody_reaches_is_an_error_without_its_address(runner: Runner) -> None:
    with app(NOWHERE, CRONTICK_BUDGET_SECONDS="1") as url:
        told = runner.run(url, TICK_MAX_RETRIES="0")
    (error,) = told.commands("error")
    assert error.startswith("the answer was 503, application/problem+json")
    assert "hunter2" not in told.log


def test_two_runs_at_once_run_no_job_twice(runner: Runner, database: str, sync_conn: Connection) -> None:
    sync_conn.execute("select crontick.enqueue('greet') from generate_series(1, 200)")
    with app(database) as url:
        children = [runner.start(url, TICK_LIMIT="20") for _ in range(2)]
        assert [child.wait() for child in children] == [0, 0]
    assert sync_conn.execute("select status, attempt, count(*) from crontick.jobs group by 1, 2").fetchall() == [
        ("succeeded", 1, 200)
    ]


def test_a_call_made_again_takes_other_jobs_while_the_first_still_runs(
    runner: Runner, database: str, sync_conn: Connection, tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    slow = gate.enqueue(sync_conn)
    with app(database) as url:
        child = runner.start_impatient(url)
        until(gate.begun)
        assert child.line().startswith("no answer, TimeoutError: trying again in")
        sync_conn.execute("select crontick.enqueue('greet')")
        told = runner.end(child)
        assert (told.status, told.outputs["claimed"], told.outputs["succeeded"]) == (0, "1", "1")
        assert ended(sync_conn, slow) is None
        gate.open()
        assert until(lambda: ended(sync_conn, slow)) == ("succeeded", 1)


def test_a_run_that_is_cancelled_stops_no_tick(
    runner: Runner, database: str, sync_conn: Connection, tmp_path: Path
) -> None:
    gate = Gate(tmp_path)
    slow = gate.enqueue(sync_conn)
    with app(database) as url:
        child = runner.start(url)
        until(gate.begun)
        child.kill()
        gate.open()
        assert until(lambda: ended(sync_conn, slow)) == ("succeeded", 1)
