"""One unfinished job a unique key, also when enqueues and ticks race for it."""

import asyncio
from typing import Any

import psycopg

from crontick.jobs import kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.faults import doomed
from tests.faults.world import World, deployed
from tests.worlds.waiting import async_until


async def test_a_second_enqueue_of_a_key_waits_for_the_first_and_gets_its_job(world: World) -> None:
    async with await psycopg.AsyncConnection.connect(world.url) as first:
        job = await doomed.note.enqueue(first, {}, unique_key="k")
        second = asyncio.create_task(_enqueue(world))
        await async_until(lambda: world.blocked(first.info.backend_pid))
        await first.commit()
        assert await second == job


async def test_after_a_roll_back_the_waiting_enqueue_makes_the_job(world: World) -> None:
    async with await psycopg.AsyncConnection.connect(world.url) as first:
        job = await doomed.note.enqueue(first, {}, unique_key="k")
        second = asyncio.create_task(_enqueue(world))
        await async_until(lambda: world.blocked(first.info.backend_pid))
        await first.rollback()
        made = await second
    assert made != job
    assert await world.rows("select id from crontick.unfinished_jobs") == [(made,)]


async def _enqueue(world: World) -> int:
    async with await psycopg.AsyncConnection.connect(world.url, autocommit=True) as conn:
        return await doomed.note.enqueue(conn, {}, unique_key="k")


async def test_twenty_enqueues_of_a_key_at_once_make_one_job(world: World) -> None:
    jobs = await asyncio.gather(*(_enqueue(world) for _ in range(20)))
    assert len(set(jobs)) == 1
    assert await world.rows("select id from crontick.unfinished_jobs") == [(jobs[0],)]


async def test_a_key_is_never_shared_and_never_stays_taken_while_jobs_end(world: World) -> None:
    at_once = {"now": 0, "ended": 0}

    @kind("keyed", timeout=60, needs=0)
    async def keyed(payload: dict[str, Any]) -> None:
        at_once["now"] += 1
        assert at_once["now"] == 1
        await asyncio.sleep(0)
        at_once["now"] -= 1
        at_once["ended"] += 1

    async def enqueue() -> None:
        async with await psycopg.AsyncConnection.connect(world.url, autocommit=True) as conn:
            for nth in range(4000):
                if nth >= 40 and at_once["ended"] > 3:
                    break
                await keyed.enqueue(conn, {}, unique_key="k")

    async def tick_on() -> None:
        while not all(task.done() for task in enqueuing):
            assert (await run_tick(deployment, TickRequest())).failed == 0

    deployment = deployed(world.url, [keyed])
    enqueuing = [asyncio.create_task(enqueue()) for _ in range(3)]
    await asyncio.gather(*enqueuing, tick_on(), tick_on())
    await run_tick(deployment, TickRequest())
    assert await world.value("select count(*) from crontick.unfinished_jobs") == 0
    assert await world.value("select count(*) from crontick.unique_keys") == 0
    assert await world.value("select count(*) from crontick.finished_jobs") > 3
