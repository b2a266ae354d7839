"""How many jobs of a limit start: never above its rate, and none for ever."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from crontick.jobs import Context, kind
from tests.limits.conftest import LimitedWorld

pytestmark = pytest.mark.anyio


@kind("call", queue="api")
async def call(payload: dict[str, Any]) -> None:
    """End at once."""


@kind("other")
async def other(payload: dict[str, Any]) -> None:
    """A kind that nothing limits."""


async def test_what_is_above_the_rate_waits_without_an_attempt(world: LimitedWorld) -> None:
    world.says('[limits.api]\nkind = "call"\nrate = "5/minute"')
    jobs = await call.enqueue_many(world.conn, [{}] * 12)
    beside = await other.enqueue(world.conn, {})
    summary = await world.tick(call, other)
    assert (summary.succeeded, summary.failed, summary.handed_back) == (6, 0, 0)
    assert await world.status(*jobs[:5], beside) == ["succeeded"] * 6, "the oldest first"
    assert await world.waiting() == {"api": 7}
    assert await world.one("select sum(attempt) from crontick.jobs where status = 'queued'") == 0


async def test_tokens_come_back_one_by_one_and_never_more_than_the_burst(world: LimitedWorld) -> None:
    world.says('[limits.api]\nkind = "call"\nrate = "5/minute"')
    await call.enqueue_many(world.conn, [{}] * 20)
    started = []
    for seconds in (0, 5, 8, 12, 3600):
        await world.later(seconds)
        started.append((await world.tick(call)).succeeded)
    assert started == [5, 0, 1, 1, 5]


async def test_a_clock_that_goes_back_stops_no_tick(world: LimitedWorld) -> None:
    world.says('[limits.api]\nkind = "call"\nrate = "1000000/second"')
    await world.later(86400)
    await world.tick(call)
    for _ in range(2):  # the first tick of a day prunes idle lines
        await call.enqueue(world.conn, {})
        await world.tick(call)
    assert await world.one("select count(*) from crontick.limit_lines") == 1
    await world.later(-86400)
    await call.enqueue(world.conn, {})
    beside = await other.enqueue(world.conn, {})
    assert (await world.tick(call, other)).succeeded == 1
    assert await world.status(beside) == ["succeeded"]
    assert await world.waiting() == {"api": 1}


async def test_fifty_ticks_at_once_never_start_more_than_the_rate_in_any_window(world: LimitedWorld) -> None:
    world.says('[limits.api]\nkind = "call"\nrate = "20/second"\nburst = 5')
    world.settings |= {"max_parallel_ticks": 50, "db_connections": 1, "concurrency": 4}
    await world.tick(call)
    await call.enqueue_many(world.conn, [{}] * 60)
    while (await world.counts()).get("queued"):
        await asyncio.gather(*[world.tick(call) for _ in range(50)])
    rows = await world.rows("select claimed_at from crontick.jobs order by claimed_at")
    at = [moment for (moment,) in rows]
    assert len(at) == 60
    for first, began in enumerate(at):
        for last in range(first, len(at)):
            assert last - first + 1 <= 5 + (at[last] - began) / timedelta(seconds=0.05) + 1e-9


async def test_fifty_ticks_at_once_never_run_more_than_the_concurrency(world: LimitedWorld) -> None:
    running: list[int] = []
    most = 0

    @kind("call", timeout=30, needs=0)
    async def slow(payload: dict[str, Any], ctx: Context) -> None:
        nonlocal most
        running.append(ctx.job.id)
        most = max(most, len(running))
        await asyncio.sleep(0.01)
        running.remove(ctx.job.id)

    world.says('[limits.api]\nkind = "call"\nconcurrency = 3')
    world.settings |= {"max_parallel_ticks": 50, "db_connections": 1, "concurrency": 4}
    await world.tick(slow)
    await slow.enqueue_many(world.conn, [{}] * 100)
    while (await world.counts()).get("queued"):
        await asyncio.gather(*[world.tick(slow) for _ in range(50)])
    assert await world.counts() == {"succeeded": 100}
    assert most == 3
