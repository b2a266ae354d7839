"""The process stays the user's: crontick makes nothing before a tick, ends nothing, and delays no end for ever."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.door.serving import head
from tests.worlds.process import Child, Processes
from tests.worlds.waiting import until
from tests.wrap.serving import Address, call, environ, tick, uvicorn

Conn = psycopg.Connection[tuple[object, ...]]
FORKS = """
import asyncio, os
import httpx
from crontick.handler import wrap
from tests.wrap.app_starlette import app

async def tick():
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://app") as client:
        headers = {"authorization": f"Bearer {os.environ['CRON_SECRET']}"}
        return (await client.post("/cron/tick", headers=headers)).json()["succeeded"]

children = []
for _ in range(2):
    if (pid := os.fork()) == 0:
        os._exit(asyncio.run(tick()))
    children.append(pid)
print(asyncio.run(tick()) + sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children))
"""


@pytest.fixture
def conn(database: str) -> Iterator[Conn]:
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


def running(conn: Conn) -> int:
    row = conn.execute("select count(*) from crontick.jobs where status = 'running'").fetchone()
    assert row is not None
    assert isinstance(row[0], int)
    return row[0]


def result(conn: Conn, kind: str) -> dict[str, list[str]]:
    row = conn.execute("select result from crontick.jobs where kind = %s", [kind]).fetchone()
    assert row is not None
    assert isinstance(row[0], dict)
    return row[0]


def test_nothing_is_made_before_the_first_tick(processes: Processes, database: str, conn: Conn) -> None:
    others = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    with uvicorn(processes, "app_starlette:app", environ(database)) as (address, _):
        before = call(address, "/process").json()
        assert before["modules"] == [f"crontick.handler{name}" for name in ("", ".lazily", ".paths", ".wrap")]
        assert before["threads"] == ["MainThread"]
        assert conn.execute(others).fetchone() == (0,)
        tick(address)
        after = call(address, "/process").json()
    assert "crontick.jobs.process" in after["modules"]
    assert after["signals"] == before["signals"]


def test_a_tick_takes_no_signal_and_watches_no_loop(processes: Processes, database: str, conn: Conn) -> None:
    conn.execute("select crontick.enqueue('look_around')")
    with uvicorn(processes, "app_starlette:app", environ(database)) as (address, _):
        before = call(address, "/process").json()
        assert tick(address)["succeeded"] == 1
    inside = result(conn, "look_around")
    assert inside["signals"] == before["signals"]
    assert "crontick-watchdog" not in inside["threads"]


def test_a_process_with_a_stuck_thread_goes_on_and_the_caller_is_told(
    processes: Processes, database: str, conn: Conn
) -> None:
    conn.execute("select crontick.enqueue('stick')")
    with uvicorn(processes, "app_starlette:app", environ(database)) as (address, child):
        summary = tick(address)
        assert summary["failed"] == 1
        assert any("restart this process" in warning for warning in summary["warnings"])
        assert tick(address)["ran"] is True
        assert child.process.poll() is None


@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_tick_ends_with_its_budget_and_the_process_after_it(
    processes: Processes, database: str, conn: Conn, *, hangs_up: bool
) -> None:
    conn.execute("select crontick.enqueue('hang')")
    env = environ(database, CRONTICK_BUDGET_SECONDS="2")
    with uvicorn(processes, "app_starlette:app", env) as (address, child):
        caller = begun(address, conn)
        if hangs_up:
            caller.close()
        child.terminate()
        child.wait()
        caller.close()
    assert child.rest() == ["stopped"]
    assert conn.execute("select stop_reason from crontick.ticks where ended_at is not null").fetchone() is not None
    assert running(conn) == 0


def begun(address: Address, conn: Conn) -> socket.socket:
    """A connection on which a tick was asked for, once a job of it runs."""
    connection = socket.create_connection(address, timeout=30)
    connection.sendall(head())
    until(lambda: running(conn) == 1)
    return connection


def test_a_tick_goes_on_when_its_caller_hangs_up(
    processes: Processes, database: str, conn: Conn, tmp_path_factory: pytest.TempPathFactory
) -> None:
    told = tmp_path_factory.mktemp("words") / "told"
    conn.execute("select crontick.enqueue('wait', %s)", [json.dumps({"path": str(told)})])
    with uvicorn(processes, "app_starlette:app", environ(database)) as (address, _):
        begun(address, conn).close()
        assert call(address, "/hello").status_code == 200
        told.touch()
        until(lambda: conn.execute("select from crontick.jobs where status = 'succeeded'").fetchone() is not None)


def test_an_app_that_is_forked_after_it_was_wrapped_ticks_in_each_process(
    processes: Processes, database: str, conn: Conn
) -> None:
    conn.execute("select crontick.enqueue('greet') from generate_series(1, 30)")
    child = processes.start(FORKS, env=environ(database))
    assert child.line() == "30"
    assert child.wait() == 0


def pids(child: Child) -> list[int]:
    """The server's workers; its resource tracker is none."""
    children = Path(f"/proc/{child.pid}/task/{child.pid}/children").read_text().split()
    return [int(pid) for pid in children if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]


def test_two_workers_tick_and_each_job_runs_once(processes: Processes, database: str, conn: Conn) -> None:
    with uvicorn(processes, "app_starlette:app", environ(database), workers=2) as (address, child):
        until(lambda: len(pids(child)) == 2)
        seen: set[int] = set()

        def both_ticked() -> bool:
            conn.execute("select crontick.enqueue('look_around')")
            assert tick(address)["succeeded"] == 1
            rows = conn.execute("select (result ->> 'pid')::int from crontick.jobs").fetchall()
            seen.update(pid for (pid,) in rows if isinstance(pid, int))
            return len(seen) == 2

        until(both_ticked, seconds=60)
        assert seen == set(pids(child))
    assert conn.execute("select max(attempt) from crontick.jobs").fetchone() == (1,)
