"""A dead job that is requeued runs once, as if it were new, however late and however often somebody asks."""

import asyncio
from typing import Any

import psycopg

from crontick.jobs import Context, Permanent, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.faults.world import World, deployed
from tests.worlds.waiting import async_until

REQUEUE = "select crontick.requeue(%s, 'ann')"


@kind("mended", max_attempts=2, backoff=[1], timeout=60, needs=0)
async def mended(payload: dict[str, Any], ctx: Context) -> None:
    if ctx.job.lineage == ctx.job.id:
        raise OSError("the receiver is down")


async def dead(world: World) -> int:
    """A job that is out of attempts."""
    job = await world.enqueue(mended)
    for _ in range(2):
        await run_tick(deployed(world.url, [mended]), TickRequest())
        await world.later("1 minute")
    assert await world.status(job) == "dead"
    return job


async def test_long_after_every_lease_and_limit_it_runs_with_fresh_attempts_and_its_history_is_kept(
    world: World,
) -> None:
    job = await dead(world)
    await world.later("80 days")
    copy = await world.value(REQUEUE, job)
    assert await world.rows("select attempt, started_at from crontick.jobs where id = %s", copy) == [(0, None)]
    summary = await run_tick(deployed(world.url, [mended]), TickRequest())
    assert (summary.succeeded, summary.rescued, await world.status(copy)) == (1, 0, "succeeded")
    assert await world.outcomes(job) == ["failed", "dead"]
    assert await world.rows("select requeued_as, resolution from crontick.jobs where id = %s", job) == [
        (copy, "requeued")
    ]


async def test_asked_twice_at_once_it_runs_once(world: World) -> None:
    job = await dead(world)

    async def again() -> int:
        async with await psycopg.AsyncConnection.connect(world.url, autocommit=True) as conn:
            [[copy]] = await (await conn.execute(REQUEUE, (job,))).fetchall()
            return int(copy)

    async with await psycopg.AsyncConnection.connect(world.url) as first:
        [[copy]] = await (await first.execute(REQUEUE, (job,))).fetchall()
        others = [asyncio.create_task(again()) for _ in range(5)]
        await async_until(lambda: world.blocked(first.info.backend_pid), seconds=30)
        await first.commit()
        assert await asyncio.gather(*others) == [copy] * 5
    summary = await run_tick(deployed(world.url, [mended]), TickRequest())
    assert summary.succeeded == 1
    assert await world.rows("select status, count(*) from crontick.jobs group by 1 order by 1") == [
        ("dead", 1),
        ("succeeded", 1),
    ]


async def test_a_permanent_failure_is_tried_once_and_its_reason_kept(world: World) -> None:
    @kind("refused", timeout=60, needs=0)
    async def refused(payload: dict[str, Any]) -> None:
        raise Permanent("404 from crm.example", status_code=404)

    job = await world.enqueue(refused)
    for _ in range(3):
        await run_tick(deployed(world.url, [refused]), TickRequest())
        await world.later("1 hour")
    told = "select status, attempt, last_status_code, last_error from crontick.jobs where id = %s"
    assert await world.rows(told, job) == [("dead", 1, 404, "Permanent: 404 from crm.example")]
