"""Ticks at the same moment, users who hold rows, a tick that slept past its lease: nobody waits, nothing runs twice."""

import asyncio
import random

import psycopg
import pytest
from psycopg.types.json import Jsonb

from crontick.jobs import Context, Snooze, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.faults import doomed
from tests.faults.world import World, deployed
from tests.worlds.waiting import async_until


@kind("brief", timeout=60, needs=0)
async def brief(payload: dict[str, str], ctx: Context) -> None:
    async with ctx.db() as conn:
        await conn.execute("insert into ran (job, attempt) values (%s, %s)", (ctx.job.id, ctx.attempt))


async def ran_once_each(world: World, jobs: int) -> bool:
    counted = "select count(*), count(distinct job), max(attempt) from ran"
    return await world.rows(counted) == [(jobs, jobs, 1)]


async def test_two_ticks_at_once_run_no_job_twice(world: World) -> None:
    @kind("brief", timeout=60, needs=0)
    async def in_company(payload: dict[str, str], ctx: Context) -> None:
        await async_until(lambda: world.value("select count(*) = 2 from crontick.ticks where claimed > 0"))
        await world.conn.execute("insert into ran (job, attempt) values (%s, %s)", (ctx.job.id, ctx.attempt))

    await in_company.enqueue_many(world.conn, [{}] * 60)
    deployment = deployed(world.url, [in_company], concurrency=5)
    one, two = await asyncio.gather(*(run_tick(deployment, TickRequest(limit=60)) for _ in range(2)))
    assert one.claimed + two.claimed == one.succeeded + two.succeeded == 60
    assert min(one.claimed, two.claimed) > 0
    assert await ran_once_each(world, 60)


async def test_fifty_ticks_at_once_run_no_job_twice(world: World) -> None:
    await brief.enqueue_many(world.conn, [{}] * 200)
    deployment = deployed(world.url, [brief], max_parallel_ticks=50, concurrency=2, db_connections=1)
    summaries = await asyncio.gather(*(run_tick(deployment, TickRequest()) for _ in range(50)))
    assert sum(s.succeeded for s in summaries) == 200
    assert [s.lost + s.rescued + s.failed for s in summaries] == [0] * 50
    assert await ran_once_each(world, 200)


async def test_never_more_ticks_than_allowed(world: World) -> None:
    release, running, most = asyncio.Event(), 0, 0

    @kind("seated", timeout=60, needs=0)
    async def seated(payload: dict[str, str]) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await release.wait()
        running -= 1

    await seated.enqueue_many(world.conn, [{}] * 20)
    deployment = deployed(world.url, [seated], max_parallel_ticks=3, limit=1)
    ticks = [asyncio.create_task(run_tick(deployment, TickRequest())) for _ in range(20)]
    await async_until(lambda: sum(t.done() for t in ticks) == 17 and running == 3)
    release.set()
    summaries = await asyncio.gather(*ticks)
    assert most == 3
    assert [s.not_run for s in summaries].count("busy") == 17


async def test_a_row_that_a_user_holds_keeps_back_its_own_outcome_only(world: World) -> None:
    release = asyncio.Event()

    @kind("held", timeout=60, needs=0)
    async def held(payload: dict[str, str]) -> None:
        await release.wait()

    jobs = await held.enqueue_many(world.conn, [{}] * 10)
    tick = asyncio.create_task(run_tick(deployed(world.url, [held]), TickRequest()))
    await async_until(lambda: running(world, 10))
    async with await psycopg.AsyncConnection.connect(world.url) as user:
        await user.execute("select * from crontick.unfinished_jobs where id = %s for update", (jobs[3],))
        release.set()
        await async_until(lambda: running(world, 1))
        assert await world.status(jobs[3]) == "running"
        assert not await world.blocked(user.info.backend_pid)
        assert not tick.done()
    summary = await tick
    assert (summary.succeeded, summary.lost) == (10, 0)


async def running(world: World, count: int) -> bool:
    text = "select count(*) from crontick.unfinished_jobs where status = 'running'"
    return bool(await world.value(text) == count)


async def test_a_row_that_a_user_holds_for_the_whole_tick_is_rescued_not_lost(world: World) -> None:
    release = asyncio.Event()

    @kind("held", timeout=60, needs=0)
    async def held(payload: dict[str, str]) -> None:
        await release.wait()

    job = await world.enqueue(held)
    tick = asyncio.create_task(run_tick(deployed(world.url, [held]), TickRequest(budget_seconds=1)))
    await async_until(lambda: running(world, 1))
    async with await psycopg.AsyncConnection.connect(world.url) as user:
        await user.execute("select * from crontick.unfinished_jobs where id = %s for update", (job,))
        release.set()
        await tick
        await world.later("1 hour")
        assert (await world.tick()).rescued == 0  # nor does a rescue wait for it
    assert (await world.tick()).rescued == 1


@pytest.mark.parametrize("act", ["claim", "place", "cancel of a neighbour", "run_now of a neighbour"])
async def test_a_row_that_a_user_holds_is_passed_over(world: World, act: str) -> None:
    group = {"group_key": "g"} if act == "place" else {}
    first, second, later = [
        await world.enqueue(doomed.note, **options)
        for options in (group, {}, {"run_at": 3600.0} if act.startswith("run_now") else {})
    ]
    async with await psycopg.AsyncConnection.connect(world.url) as user:
        await user.execute("select * from crontick.unfinished_jobs where id = %s for update", (first,))
        await world.conn.execute("set lock_timeout = '100ms'")
        if act.startswith("cancel"):
            assert await world.value("select crontick.cancel(%s, 'me')", later) == "cancelled"
        if act.startswith("run_now"):
            assert await world.value("select crontick.run_now(%s, 'me')", later) == "queued"
        async with asyncio.timeout(10):  # nor does the tick go on asking for it to its deadline
            await world.tick()
        assert await world.status(second) == "succeeded"
        assert await world.status(first) == "queued"
    await world.tick()
    assert await world.status(first) == "succeeded"


async def test_a_user_who_locks_a_running_job_does_not_keep_others_from_cancelling_it(world: World) -> None:
    job = await world.enqueue(doomed.wait)
    child = world.doomed()
    child.line()
    async with await psycopg.AsyncConnection.connect(world.url) as user:
        await user.execute("select * from crontick.unfinished_jobs where id = %s for update", (job,))
        await world.conn.execute("set lock_timeout = '100ms'")
        assert await world.value("select crontick.cancel(%s, 'me')", job) == "running"


async def test_enqueuing_beside_ticks_deadlocks_nobody(world: World) -> None:
    deployment = deployed(world.url, [brief], max_parallel_ticks=4, concurrency=5)

    async def enqueue(nth: int) -> None:
        async with await psycopg.AsyncConnection.connect(world.url) as conn:
            for turn in range(6):
                keys = [f"k{(nth * 7 + turn * 3 + step) % 40}" for step in range(25)]
                for key in sorted(keys) if nth % 2 else sorted(keys)[::-1]:
                    await brief.enqueue(conn, {}, unique_key=key, group_key=key[-1])
                    if nth % 2 == 0:
                        await conn.commit()
                await brief.enqueue_many(conn, [{}] * 10)
                await conn.commit()

    async def tick_on() -> None:
        while not all(task.done() for task in enqueuing):
            await run_tick(deployment, TickRequest())

    enqueuing = [asyncio.create_task(enqueue(nth)) for nth in range(4)]
    await asyncio.gather(*enqueuing, tick_on(), tick_on(), tick_on())
    await run_tick(deployment, TickRequest(limit=1000))
    total = await world.value("select count(*) from crontick.finished_jobs")
    assert await world.value("select count(*) from crontick.unfinished_jobs") == 0
    assert await ran_once_each(world, total)


async def test_batches_with_the_same_keys_beside_ticks_deadlock_nobody(world: World) -> None:
    deployment = deployed(world.url, [brief], max_parallel_ticks=4, concurrency=5)
    chance = random.Random(5)

    async def enqueue() -> None:
        async with await psycopg.AsyncConnection.connect(world.url, autocommit=True) as conn:
            for _ in range(10):
                jobs = [
                    {
                        "kind": "brief",
                        "unique_key": f"k{chance.randrange(60)}",
                        "unique_for": chance.choice(["active", "waiting", "1 second"]),
                        "on_conflict": chance.choice(["keep", "replace"]),
                        "group_key": chance.choice(["a", "b", None]),
                    }
                    for _ in range(50)
                ]
                await conn.execute("select crontick.enqueue_many(%s)", (Jsonb(jobs),))

    async def tick_on() -> None:
        while not all(task.done() for task in enqueuing):
            summary = await run_tick(deployment, TickRequest())
            assert (summary.failed, summary.lost) == (0, 0)

    enqueuing = [asyncio.create_task(enqueue()) for _ in range(4)]
    await asyncio.gather(*enqueuing, *(tick_on() for _ in range(4)))
    while await world.value("select count(*) from crontick.unfinished_jobs"):
        await run_tick(deployment, TickRequest(limit=1000))
    assert await ran_once_each(world, await world.value("select count(*) from crontick.finished_jobs"))
    assert await world.value("select count(*) from crontick.unique_keys where mode <> 'interval'") == 0


@pytest.mark.parametrize("outcome", ["failed", "snoozed", "succeeded"])
async def test_a_cancel_that_the_tick_never_heard_of_ends_the_job_unless_it_succeeded(
    world: World, outcome: str
) -> None:
    @kind("deaf", timeout=60, needs=0)
    async def deaf(payload: dict[str, str], ctx: Context) -> None:
        await world.value("select crontick.cancel(%s, 'me')", ctx.job.id)
        if outcome == "failed":
            raise OSError("once")
        if outcome == "snoozed":
            raise Snooze(60)

    job = await world.enqueue(deaf)
    summary = await run_tick(deployed(world.url, [deaf]), TickRequest())
    ended = "succeeded" if outcome == "succeeded" else "cancelled"
    assert (getattr(summary, ended), await world.status(job)) == (1, ended)
    assert await world.value(f"select {ended} from crontick.ticks") == 1
    assert await world.value("select count(*) from crontick.cancel_requests") == 0
