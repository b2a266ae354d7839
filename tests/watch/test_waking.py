"""A watcher runs what is enqueued without a poll, what is planned at its time, and nobody pays who has no watcher."""

import json
import socket
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs import seats
from tests.faults import doomed
from tests.faults.world import World
from tests.watch import kinds
from tests.watch.conftest import Watchers, Watching, ran
from tests.worlds.waiting import async_until


async def test_it_runs_what_is_enqueued_planned_and_hurried_and_tells_nothing_of_idle_ticks(
    world: World, watchers: Watchers, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(30)
        child = watchers.start(NOTIFY_SOCKET=str(tmp_path / "notify"))
        assert systemd.recv(100) == b"READY=1"
    await watchers.listening()
    await ran(world, await world.enqueue(kinds.note))
    first = await world.enqueue(kinds.note, group_key="account 7")
    second = await world.enqueue(kinds.note, group_key="account 7")
    await ran(world, first)
    await ran(world, second)
    run_at = await world.value("select crontick.now() + '2 seconds'")
    planned = await world.enqueue(kinds.note, run_at=run_at)
    await ran(world, planned)
    assert await world.value("select started_at >= run_at from crontick.jobs where id = %s", planned)
    far = await world.enqueue(kinds.note, run_at=await world.value("select crontick.now() + '1 day'"))
    await world.conn.execute("select crontick.run_now(%s, 'ada')", (far,))
    await ran(world, far)
    await world.conn.execute("select crontick.pause('queue', 'default', 'ada')")
    held = await world.enqueue(kinds.note)
    await world.conn.execute("select crontick.resume('queue', 'default', 'ada')")
    await ran(world, held)
    child.terminate()
    assert child.wait() == 0
    told = [json.loads(line) for line in child.errors.splitlines()]
    ticks = [line for line in told if line.get("event") == "tick"]
    assert [line["claimed"] for line in ticks if line["warnings"] == ticks[0]["warnings"]].count(0) <= 1
    assert [line["event"] for line in told if line["event"].startswith("watch_")] == [
        "watch_connection",
        "watch_asked",
        "watch_ended",
    ]
    assert await world.rows("select id from crontick.watchers") == []


async def test_a_tick_in_the_middle_of_a_job_looks_at_once_at_what_was_enqueued(
    world: World, watching: Watching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seats, "LOOK_SECONDS", 3600)
    async with watching(budget_seconds=600, max_budget_seconds=600):
        long = await world.enqueue(kinds.wait)
        await ran(world, long)
        await ran(world, await world.enqueue(kinds.note))
        assert await world.status(long) == "running"


async def test_watchers_and_ticks_from_outside_share_the_work(world: World, watching: Watching) -> None:
    async with watching(), watching(), watching():
        await async_until(lambda: world.value("select count(*) = 3 from crontick.watchers where listens"))
        await kinds.note.enqueue_many(world.conn, [{}] * 300)
        await world.tick()
        await async_until(lambda: world.value("select not exists (select from crontick.unfinished_jobs)"))
    assert await world.rows("select count(*), count(distinct job) from ran") == [(300, 300)]


class Listener:
    """Somebody who hears every notification that a watcher would."""

    def __init__(self, conn: psycopg.Connection[Any]) -> None:
        self._conn = conn
        conn.execute("listen crontick")

    def heard(self) -> list[str]:
        """What was notified until now: notifications come in the order of the commits."""
        self._conn.execute("select pg_notify('crontick', 'the end')")
        told = []
        for notify in self._conn.notifies(timeout=30):
            if notify.payload == "the end":
                break
            told.append(notify.payload)
        return told


REGISTER = "insert into crontick.watchers values (1, 'here', 1, '0', '1h', %s, now(), now() - %s::interval)"


def test_nobody_is_notified_but_for_a_watcher_that_was_seen_in_the_last_minute(
    database: str, sync_conn: psycopg.Connection[Any]
) -> None:
    with psycopg.connect(database, autocommit=True) as other:
        listener = Listener(other)
        enqueue = "select crontick.enqueue('note')"
        for listens, ago, times in (None, None, 0), (True, "2 minutes", 0), (False, "0", 0), (True, "30 seconds", 1):
            sync_conn.execute("delete from crontick.watchers")
            if ago is not None:
                sync_conn.execute(REGISTER, (listens, ago))
            sync_conn.execute(enqueue)
            assert listener.heard() == [""] * times
        jobs = "select jsonb_agg(jsonb_build_object('kind', 'note')) from generate_series(1, 50)"
        many = f"select count(*) from crontick.enqueue_many(({jobs}))".encode()
        sync_conn.execute(many)
        assert listener.heard() == [""]


DECISIONS = (
    "select crontick.run_now({planned}, 'ada')",
    "select crontick.cancel({planned}, 'ada')",
    "select crontick.requeue({dead}, 'ada')",
    "select crontick.pause('queue', 'slow', 'ada')",
    "select crontick.resume('queue', 'slow', 'ada')",
    "select crontick.act_on_many('run_now', 'ada', 'why', '{{\"kind\": \"note\"}}', 2)",
)


async def test_whatever_makes_a_job_due_is_notified(world: World) -> None:
    dead = await world.enqueue(doomed.poison, max_attempts=1)
    assert (await world.tick()).dead == 1
    planned = await world.enqueue(kinds.note, run_at=timedelta(days=1))
    for _ in range(2):
        await world.enqueue(kinds.note, run_at=timedelta(days=1))
    await world.conn.execute(REGISTER, (True, "0"))
    with psycopg.connect(world.url, autocommit=True) as other:
        listener = Listener(other)
        for decision in DECISIONS:
            await world.conn.execute(decision.format(planned=planned, dead=dead).encode())
            assert listener.heard() == [""], decision
        # What a tick from outside puts off or leaves over; a watcher asks for the next due time itself.
        assert (await world.tick(trigger="watch", kinds=["note"], limit=1)).claimed == 1
        assert listener.heard() == []
        assert (await world.tick(trigger="curl", kinds=["note"], limit=1)).claimed == 1
        assert listener.heard() == [""]
        assert (await world.tick(trigger="curl", kinds=["note"])).claimed == 0
        assert listener.heard() == []


def test_without_a_watcher_an_enqueue_writes_no_more_than_its_job(sync_conn: psycopg.Connection[Any]) -> None:
    def wal_records(call: str) -> int:
        row = sync_conn.execute(f"explain (analyze, wal, costs off, format json) select {call}".encode()).fetchone()
        assert row is not None
        return int(row[0][0]["Plan"]["WAL Records"])

    insert = "crontick.insert_job('note', '{}', null, null, null, null, null, 'active', null, 'keep', null)"
    wal_records(insert)
    wal_records("crontick.enqueue('note')")
    for _ in range(3):
        assert wal_records("crontick.enqueue('note')") == wal_records(insert)
