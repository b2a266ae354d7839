"""Through PgBouncer in transaction mode, where no session lasts, a tick does all that it does without."""

import asyncio

import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.faults import doomed
from tests.faults.test_killed_setups import REMINDER
from tests.faults.world import World, deployed
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


async def test_groups(pooled: World) -> None:
    jobs = [await pooled.enqueue(doomed.note, group_key=f"g{n % 3}") for n in range(12)]
    assert (await pooled.tick()).succeeded == 12
    assert await pooled.value("select array_agg(job order by job) from ran") == jobs


async def test_markers_of_the_claim_and_of_the_function(pooled: World) -> None:
    @kind("keyed", timeout=60, needs=0)
    async def keyed(payload: dict[str, str], ctx: Context) -> None:
        async with ctx.once("k") as mark:
            if not mark.sent:
                mark.provider = "smtp"

    for _ in range(2):
        await pooled.enqueue(doomed.mail, {"key": "order 7"})
    deployment = deployed(pooled.url, [*doomed.KINDS, keyed])
    await run_tick(deployment, TickRequest())
    await pooled.later("1 hour")
    assert (await run_tick(deployment, TickRequest())).duplicates == 1
    for _ in range(2):
        await pooled.enqueue(keyed)
        await run_tick(deployment, TickRequest())
    assert await pooled.rows("select kind, state from crontick.markers order by kind") == [
        ("keyed", "sent"),
        ("mail", "sent"),
    ]
    assert await pooled.value("select count(*) from ran") == 1


async def test_reminders(pooled: World, tmp_path_factory: pytest.TempPathFactory) -> None:
    config = tmp_path_factory.mktemp("pooled") / "crontick.toml"
    config.write_text(REMINDER)
    pooled.settings = {"config_path": str(config)}
    await pooled.conn.execute(
        "create table bookings as select id, now() + '20 hours' as at from generate_series(1, 3) id"
    )
    assert (await pooled.tick()).reminders["tomorrow"].fired == 3
    await pooled.tick()
    assert await pooled.value("select count(*) from ran") == 3


async def test_complete(pooled: World) -> None:
    job = await pooled.enqueue(doomed.pay)
    assert (await pooled.tick()).succeeded == 1
    assert await pooled.value("select result from crontick.jobs where id = %s", job) == {"paid": True}


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
