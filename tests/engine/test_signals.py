"""What a function raises decides the fate of its job."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from crontick.jobs import Cancel, Context, Permanent, Snooze, kind
from tests.engine.conftest import World
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio


async def test_permanent_is_dead_at_once(world: World) -> None:
    @kind("no")
    async def no(payload: Any) -> None:
        raise Permanent("no such user", status_code=404)

    job = await no.enqueue(world.conn, {})
    summary = await world.tick(no)
    told = await world.job(job)
    assert (summary.dead, told["status"], told["attempt"], told["last_status_code"]) == (1, "dead", 1, 404)
    assert "no such user" in told["last_error"]


async def test_a_snooze_uses_no_attempt(world: World) -> None:
    runs = []

    @kind("nap", max_attempts=1)
    async def nap(payload: Any, ctx: Context) -> None:
        runs.append(ctx.attempt)
        raise Snooze(timedelta(seconds=0))

    job = await nap.enqueue(world.conn, {})
    for _ in range(3):
        summary = await world.tick(nap)
        assert (summary.snoozed, (await world.job(job))["attempt"]) == (1, 0)
        await world.later(2)
    assert runs == [1, 1, 1]
    assert await world.one("select count(*) from crontick.attempts") == 0


async def test_a_snoozed_job_runs_once_a_tick_even_if_it_comes_due_within_it(world: World) -> None:
    runs = []

    @kind("nap")
    async def nap(payload: Any) -> None:
        runs.append("nap")
        raise Snooze(1)

    @kind("hour")
    async def hour(payload: Any) -> None:
        runs.append("hour")
        await world.later(3600)

    world.settings = {"concurrency": 1}
    await nap.enqueue(world.conn, {}, priority=9)
    await hour.enqueue_many(world.conn, [{}] * 2)
    await world.tick(nap, hour)
    assert runs == ["nap", "hour", "hour"]
    await world.tick(nap, hour)
    assert runs == ["nap", "hour", "hour", "nap"]


async def test_a_function_may_cancel_its_own_job(world: World) -> None:
    @kind("gone")
    async def gone(payload: Any) -> None:
        raise Cancel("the order is gone")

    job = await gone.enqueue(world.conn, {})
    summary = await world.tick(gone)
    told = await world.job(job)
    assert (summary.cancelled, told["status"], told["last_error"]) == (1, "cancelled", "the order is gone")


async def stoppable(world: World, ending: Any) -> tuple[int, Any]:
    """A job that is asked to stop while it runs, and ends as ``ending`` says once it has noticed."""

    @kind("long", timeout=20, needs=1)
    async def long(payload: Any, ctx: Context) -> Any:
        await world.rows("select crontick.cancel(%s, 'ann', 'changed my mind')", ctx.job.id)
        await async_until(lambda: ctx.cancel_requested)
        if isinstance(ending, Exception):
            raise ending
        return ending

    @kind("short")
    async def short(payload: Any) -> None:
        """Its end makes the tick ask the database, and hear of the cancel request."""
        await asyncio.sleep(0.1)

    job = await long.enqueue(world.conn, {})
    await short.enqueue_many(world.conn, [{}] * 2)
    return job, await world.tick(long, short)


async def test_a_running_job_that_notices_and_stops_is_cancelled(world: World) -> None:
    job, summary = await stoppable(world, Cancel("asked to"))
    assert (summary.cancelled, await world.status(job)) == (1, ["cancelled"])
    assert await world.one("select count(*) from crontick.cancel_requests") == 0


async def test_one_that_fails_after_it_was_asked_to_stop_is_cancelled_not_retried(world: World) -> None:
    job, summary = await stoppable(world, ValueError("half done"))
    assert (summary.cancelled, await world.status(job)) == (1, ["cancelled"])
    assert "half done" in (await world.job(job))["last_error"]


async def test_one_that_succeeds_after_it_was_asked_to_stop_has_succeeded(world: World) -> None:
    job, summary = await stoppable(world, {"n": 1})
    assert (summary.succeeded, await world.status(job)) == (3, ["succeeded"])
    assert await world.one("select count(*) from crontick.cancel_requests") == 0


@pytest.mark.parametrize(("code", "kept"), [(404, 404), (2**31, None), (-1, None), ("404", None), (True, None)])
async def test_a_status_code_that_is_none_costs_the_attempt_no_word(world: World, code: Any, kept: int | None) -> None:
    @kind("no")
    async def no(payload: Any) -> None:
        raise Permanent("no such user", status_code=code)

    job = await no.enqueue(world.conn, {})
    assert (await world.tick(no)).dead == 1
    told = await world.job(job)
    assert (told["last_status_code"], told["last_error"]) == (kept, "Permanent: no such user")
