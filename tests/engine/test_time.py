"""Deadlines, time-outs and what does not heed them."""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from crontick.jobs import Context, LeaseLost, kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.stop import Stop
from tests.engine.conftest import World
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio
SHORT = {"budget_seconds": 1, "max_budget_seconds": 1}
"""Functions are cut a quarter of a second before its end."""


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """What threads wait for in vain, until the test is over."""
    event = threading.Event()
    yield event
    event.set()


@kind("quick")
async def quick(payload: Any) -> None: ...


@kind("endless", timeout=20, needs=0.1)
async def endless(payload: Any) -> None:
    await asyncio.Event().wait()


async def test_what_does_not_end_in_time_fails_and_the_others_run(world: World) -> None:
    @kind("slow", timeout=0.2)
    async def slow(payload: Any) -> None:
        await asyncio.Event().wait()

    job = await slow.enqueue(world.conn, {})
    others = await quick.enqueue_many(world.conn, [{}] * 30)
    summary = await world.tick(slow, quick)
    assert (summary.failed, summary.succeeded, summary.retire) == (1, len(others), False)
    assert (await world.job(job))["last_error"] == "TimeoutError: it did not end within 0.2 s"


async def test_what_always_times_out_has_bounded_attempts(world: World) -> None:
    @kind("slow", timeout=0.05, max_attempts=3, backoff=[10])
    async def slow(payload: Any) -> None:
        await asyncio.Event().wait()

    job = await slow.enqueue(world.conn, {})
    for _ in range(3):
        other = await quick.enqueue(world.conn, {})
        await world.tick(slow, quick)
        assert await world.status(other) == ["succeeded"]
        await world.later(20)
    assert (await world.status(job), (await world.job(job))["attempt"]) == (["dead"], 3)


async def test_what_the_tick_s_end_cuts_off_is_handed_back_without_an_attempt(world: World) -> None:
    world.settings = SHORT
    job = await endless.enqueue(world.conn, {})
    summary = await world.tick(endless)
    told = await world.job(job)
    assert (summary.handed_back, summary.stop_reason, summary.more) == (1, "budget", True)
    assert (told["status"], told["attempt"], told["last_error"]) == ("queued", 0, None)
    assert await world.one("select outcome from crontick.attempts") == "handed_back"


async def test_handed_back_three_times_in_a_row_it_counts_as_failed(world: World) -> None:
    world.settings = SHORT
    job = await endless.enqueue(world.conn, {})
    await world.tick(endless)
    assert await world.one("select handed_back from crontick.unfinished_jobs") == 1
    await world.rows("update crontick.unfinished_jobs set handed_back = 3")
    summary = await world.tick(endless)
    assert (summary.failed, (await world.job(job))["attempt"]) == (1, 1)
    assert (await world.job(job))["last_error"] == "TimeoutError: it did not end inside a tick"
    assert await world.one("select handed_back from crontick.unfinished_jobs") == 0


async def test_a_kind_that_needs_more_than_is_left_is_not_begun(world: World) -> None:
    @kind("first", timeout=30, needs=0.1)
    async def first(payload: Any, ctx: Context) -> None:
        await async_until(lambda: ctx.seconds_left < 0.45)

    @kind("big", timeout=0.6)
    async def big(payload: Any) -> None: ...

    world.settings = {**SHORT, "concurrency": 1}
    await first.enqueue(world.conn, {}, priority=5)
    job = await big.enqueue(world.conn, {})
    small = await quick.enqueue(world.conn, {}, priority=-5)
    small_kind = kind("quick", timeout=30, needs=0.01)(quick.function)
    await world.tick(first, big, small_kind)
    assert (await world.status(job, small), (await world.job(job))["attempt"]) == (["queued", "succeeded"], 0)
    await world.tick(first, big, small_kind)
    assert await world.status(job) == ["succeeded"]


async def test_a_sync_function_runs_in_a_thread_beside_others(world: World) -> None:
    together = threading.Barrier(3, timeout=30)
    threads = set()

    @kind("sync")
    def sync(payload: Any, ctx: Context) -> dict[str, int]:
        together.wait()
        threads.add(threading.current_thread())
        with ctx.db() as conn:
            conn.execute("select 1")
        return {"n": ctx.job.id}

    jobs = await sync.enqueue_many(world.conn, [{}] * 3)
    summary = await world.tick(sync)
    assert (summary.succeeded, len(threads), threading.main_thread() in threads) == (3, 3, False)
    assert (await world.job(jobs[0]))["result"] == {"n": jobs[0]}


async def test_a_stuck_thread_is_written_off_and_not_run_again_before_its_lease_ends(
    world: World, never: threading.Event
) -> None:
    heard: list[BaseException] = []

    @kind("stuck", timeout=0.2, backoff=[1])
    def stuck(payload: Any, ctx: Context) -> None:
        never.wait(20)
        for act in (ctx.check_lease, ctx.db, lambda: ctx.http, lambda: ctx.enqueue(quick, {}), lambda: ctx.progress(1)):
            try:
                act()
            except LeaseLost as error:
                heard.append(error)

    job = await stuck.enqueue(world.conn, {})
    other = await quick.enqueue(world.conn, {})
    summary = await world.tick(stuck, quick)
    lease_left = "select extract(epoch from lease_expires_at - crontick.now())::float8 from crontick.ticks"
    assert (summary.failed, summary.retire, await world.status(other)) == (1, True, ["succeeded"])
    assert await world.delay(job) >= await world.one(lease_left) - 0.5
    never.set()
    await async_until(lambda: len(heard) == 5)


async def test_a_thread_that_the_tick_s_end_cuts_off_is_handed_back_under_the_same_rule(
    world: World, never: threading.Event
) -> None:
    @kind("stuck", timeout=20, needs=0.1)
    def stuck(payload: Any) -> None:
        never.wait(20)

    world.settings = SHORT
    job = await stuck.enqueue(world.conn, {})
    summary = await world.tick(stuck)
    assert (summary.handed_back, summary.retire) == (1, True)
    assert await world.delay(job) > 10


async def test_a_function_that_swallows_its_cancellation_is_written_off(world: World) -> None:
    let_go = asyncio.Event()

    @kind("stubborn", timeout=0.1)
    async def stubborn(payload: Any) -> None:
        while not let_go.is_set():
            try:
                await let_go.wait()
            except asyncio.CancelledError:
                continue

    job = await stubborn.enqueue(world.conn, {})
    other = await quick.enqueue(world.conn, {})
    ticking = asyncio.create_task(world.tick(stubborn, quick))
    await async_until(lambda: world.one("select count(*) from crontick.jobs where id = %s and status = 'failed'", job))
    let_go.set()
    summary = await ticking
    assert (summary.failed, summary.succeeded, summary.retire) == (1, 1, True)
    assert (await world.status(other), await world.delay(job) > 10) == (["succeeded"], True)


async def test_a_function_that_cancels_itself_has_failed(world: World) -> None:
    @kind("odd")
    async def odd(payload: Any) -> None:
        raise asyncio.CancelledError

    job = await odd.enqueue(world.conn, {})
    assert (await world.tick(odd)).failed == 1
    assert "cancelled from inside" in (await world.job(job))["last_error"]


async def test_after_a_stop_nothing_more_is_claimed_and_what_runs_ends(world: World) -> None:
    stop = Stop()

    @kind("stopping")
    async def stopping(payload: Any) -> None:
        stop.ask()

    jobs = await stopping.enqueue_many(world.conn, [{}] * 10)
    deployment = load_deployment(Settings(database_url=world.url, environment="test", concurrency=1), kinds=[stopping])
    summary = await run_tick(deployment, TickRequest(), stop=stop)
    assert (summary.succeeded, summary.stop_reason, summary.more) == (1, "shutdown", True)
    assert await world.status(*jobs) == ["succeeded"] + ["queued"] * 9


async def test_a_budget_beyond_the_largest_is_cut_and_the_summary_says_so(world: World) -> None:
    summary = await world.tick(quick, budget_seconds=900)
    assert "the budget was cut to 25 s (CRONTICK_MAX_BUDGET_SECONDS)" in summary.warnings
    seconds = "select extract(epoch from deadline - started_at)::float8 from crontick.ticks"
    assert 24 < await world.one(seconds) <= 25
