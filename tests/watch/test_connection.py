"""A watcher's connection is lost, silent, or a pooler's: it heals or polls, and nothing stays behind."""

import logging
from collections.abc import AsyncIterator

import psycopg
import pytest

from crontick.jobs import listen
from tests.faults.world import World
from tests.watch import kinds
from tests.watch.conftest import Watching, ran, watched
from tests.worlds import own_server as servers
from tests.worlds import pgbouncer as poolers
from tests.worlds.process import Processes
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until

LISTENING = "select count(*) > 0 from crontick.watchers where listens"
IDLE = "select not exists (select from crontick.ticks where ended_at is null)"
BEATEN = "select max(seen_at) from crontick.watchers where seen_at > coalesce(%s::timestamptz, '-infinity')"
LISTENERS = """
select pg_terminate_backend(pid) from pg_stat_activity
where position('see_watcher' in query) > 0 and datname = current_database() and pid <> pg_backend_pid()
"""


async def test_the_database_is_restarted_and_what_is_enqueued_then_runs(processes: Processes) -> None:
    with servers.own_server() as server:
        async with watched(server.url):
            for _ in range(2):
                async with await psycopg.AsyncConnection.connect(server.url, autocommit=True) as conn:
                    world = World(server.url, conn, processes)
                    await async_until(lambda: world.value(LISTENING))  # noqa: B023 (waited for in this turn)
                    await ran(world, await world.enqueue(kinds.note))
                    await async_until(lambda: world.value(IDLE))  # noqa: B023
                await server.restart()


async def test_a_lost_connection_heals_and_what_was_enqueued_meanwhile_is_found(
    world: World, watching: Watching
) -> None:
    async with watching():
        before = await world.enqueue(kinds.note, run_at=await world.value("select crontick.now() + '1 day'"))
        for _ in range(3):
            await world.rows(LISTENERS)
            await ran(world, await world.enqueue(kinds.note))
        assert await world.status(before) == "queued"


async def test_a_connection_gone_silent_is_noticed(
    world: World, watching: Watching, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listen, "BEAT_SECONDS", 0.2)
    monkeypatch.setattr(listen, "_TRIP_SECONDS", 2.0)
    async with watching(world.url, proxy.url):
        seen_at = None
        for _ in range(4):  # the first tick and its look are over: it rests, and beats
            seen_at = await async_until(lambda: world.value(BEATEN, seen_at))  # noqa: B023
        proxy.black_hole = True
        made = proxy.connections
        job = await world.enqueue(kinds.note)
        await async_until(lambda: proxy.connections > made)
        proxy.black_hole = False
        await ran(world, job)


@pytest.fixture
async def pooled(server: str, database: str) -> AsyncIterator[str]:
    """``database``, through PgBouncer in session mode."""
    if poolers.PROGRAM is None:
        pytest.skip("PgBouncer is not here: apt-get install pgbouncer")
    with poolers.pgbouncer(server, mode="session") as url:
        yield url.removesuffix("/postgres") + database[database.rindex("/") :].partition("?")[0]


async def test_through_a_pooler_in_transaction_mode_it_says_so_and_polls_unless_it_listens_elsewhere(
    world: World, watching: Watching, pgbouncer: str, pooled: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with watching(pgbouncer, every_seconds=1):
        polls = "pooler in transaction mode, and polls every 1 s: set CRONTICK_LISTEN_URL"
        await async_until(lambda: polls in caplog.text)
        assert not await world.value(LISTENING)
        await ran(world, await world.enqueue(kinds.note))
    with caplog.at_level(logging.INFO, logger="crontick.watch"):
        for direct in (world.url, pooled):
            caplog.clear()
            async with watching(pgbouncer, direct):
                await async_until(lambda: "listening for jobs" in caplog.text)
                assert await world.value(LISTENING)
                await ran(world, await world.enqueue(kinds.note))


async def test_while_it_cannot_tick_it_tries_again_until_it_can(
    world: World, watching: Watching, caplog: pytest.LogCaptureFixture
) -> None:
    await world.conn.execute("update crontick.installation set environment = 'other'")
    async with watching():
        await async_until(lambda: "no tick" in caplog.text)
        job = await world.enqueue(kinds.note)
        await world.conn.execute("update crontick.installation set environment = 'test'")
        await ran(world, job)
