"""Through PgBouncer in transaction mode, where no session lasts, ticks keep their promises in trouble, too."""

import asyncio

import psycopg
import pytest

from tests.faults import doomed
from tests.faults.world import World
from tests.worlds.waiting import async_until


@pytest.fixture
def pooled(world: World, pgbouncer: str) -> World:
    """Everything but the test's own looks goes through the pooler."""
    world.url = pgbouncer
    return world


async def test_ticks_at_once(pooled: World) -> None:
    await doomed.note.enqueue_many(pooled.conn, [{}] * 60)
    one, two = await asyncio.gather(pooled.tick(), pooled.tick())
    assert one.succeeded + two.succeeded == 60
    assert await pooled.rows("select count(*), count(distinct job) from ran") == [(60, 60)]


async def test_kept_connections(pooled: World) -> None:
    pooled.settings = {"keep_connection_seconds": 60}
    for _ in range(3):
        job = await pooled.enqueue(doomed.note)
        assert (await pooled.tick()).succeeded == 1
        assert await pooled.status(job) == "succeeded"


async def test_the_bounds_of_a_statement_do_not_leak_into_the_next_client(pooled: World) -> None:
    await pooled.tick()
    async with await psycopg.AsyncConnection.connect(pooled.url, autocommit=True, prepare_threshold=None) as conn:
        row = await (
            await conn.execute("select current_setting('lock_timeout'), current_setting('statement_timeout')")
        ).fetchone()
    assert row == ("0", "0")


async def test_a_kill_and_a_rescue(pooled: World) -> None:
    job = await pooled.enqueue(doomed.wait)
    child = pooled.doomed()
    child.line()
    child.kill()
    await pooled.later("1 hour")
    assert (await pooled.tick(kinds=("note",))).rescued == 1
    again = pooled.doomed()
    assert again.line() == f"in {job}"
    again.process.send_signal(doomed.GO_ON)
    await async_until(lambda: _succeeded(pooled, job))


async def _succeeded(world: World, job: int) -> bool:
    return await world.status(job) == "succeeded"
