"""Order in a group holds, and nobody in it is forgotten, whatever commits between two statements (P3, P25)."""

import asyncio
import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.faults.protocol import HandTick
from tests.faults.world import World, deployed

ENQUEUE = "select crontick.enqueue('step', group_key => 'g')"


@pytest.fixture
def user(database: str) -> Iterator[psycopg.Connection[Any]]:
    """An app's connection; what it does is committed when the test says so."""
    with psycopg.connect(database) as conn:
        yield conn


def enqueue(conn: psycopg.Connection[Any]) -> int:
    row = conn.execute(ENQUEUE).fetchone()
    assert row is not None
    return int(row[0])


@pytest.fixture
def ending(sync_conn: psycopg.Connection[Any], database: str) -> Iterator[tuple[HandTick, int]]:
    """A tick in the middle of its last exchange's transaction, and the head of the group that it runs."""
    head = enqueue(sync_conn)
    with psycopg.connect(database) as conn:
        tick = HandTick(conn, "step")
        tick.place()
        assert tick.claim() == [head]
        conn.commit()
        yield tick, head


def test_a_follower_that_commits_before_the_settle_is_released(
    ending: tuple[HandTick, int], user: psycopg.Connection[Any]
) -> None:
    tick, head = ending
    follower = enqueue(user)
    user.commit()
    tick.settle(head)
    tick.place()
    assert tick.claim() == [follower]


def test_a_follower_that_commits_between_settle_and_place_is_released(
    ending: tuple[HandTick, int], user: psycopg.Connection[Any]
) -> None:
    tick, head = ending
    follower = enqueue(user)
    tick.settle(head)
    user.commit()
    tick.place()
    assert tick.claim() == [follower]


def test_a_follower_that_commits_after_the_place_is_released_by_the_next(
    ending: tuple[HandTick, int], user: psycopg.Connection[Any], sync_conn: psycopg.Connection[Any]
) -> None:
    tick, head = ending
    follower = enqueue(user)
    tick.settle(head)
    tick.place()
    assert tick.claim() == []
    user.commit()
    tick.conn.commit()
    other = HandTick(sync_conn, "step")
    other.place()
    assert other.claim() == [follower]


def test_a_call_that_another_tick_answered_too_early_is_made_again_by_the_settle(
    ending: tuple[HandTick, int], user: psycopg.Connection[Any], sync_conn: psycopg.Connection[Any]
) -> None:
    tick, head = ending
    follower = enqueue(user)
    user.commit()
    tick.settle(head)  # not committed: the other tick still sees the head
    other = HandTick(sync_conn, "step")
    other.place()
    assert other.claim() == []
    tick.conn.commit()
    other.place()
    assert other.claim() == [follower]


def test_a_placer_that_finds_another_at_work_leaves_the_calls(
    ending: tuple[HandTick, int], sync_conn: psycopg.Connection[Any]
) -> None:
    tick, head = ending
    follower = enqueue(sync_conn)
    tick.settle(head)
    tick.place()
    other = HandTick(sync_conn, "step")
    other.place()
    tick.conn.rollback()
    assert other.claim() == []
    tick.settle({"id": head, "outcome": "dead", "error": "it broke"}, claim=_claim(sync_conn, head))
    tick.conn.commit()
    other.place()
    assert other.claim() == [follower]


def _claim(conn: psycopg.Connection[Any], job: int) -> int:
    row = conn.execute("select claim from crontick.unfinished_jobs where id = %s", (job,)).fetchone()
    assert row is not None
    return int(row[0])


async def test_order_holds_and_none_is_stuck_while_slow_and_rolled_back_enqueues_race_with_ticks(world: World) -> None:
    ran: defaultdict[str | None, list[int]] = defaultdict(list)
    at_once: defaultdict[str | None, int] = defaultdict(int)

    @kind("step", timeout=60, needs=0)
    async def step(payload: dict[str, Any], ctx: Context) -> None:
        group = ctx.job.group_key
        at_once[group] += 1
        assert at_once[group] == 1
        await asyncio.sleep(0)
        ran[group].append(ctx.job.id)
        at_once[group] -= 1

    chance = random.Random(7)

    async def enqueue(group: str) -> None:
        async with await psycopg.AsyncConnection.connect(world.url) as conn:
            for _ in range(8):
                await step.enqueue(conn, {}, group_key=group)
                await step.enqueue(conn, {}, group_key=group)
                await asyncio.sleep(chance.uniform(0, 0.02))  # a slow transaction, not a wait for something
                await (conn.rollback() if chance.random() < 0.3 else conn.commit())

    async def tick_on() -> None:
        while not all(task.done() for task in enqueuing):
            summary = await run_tick(deployment, TickRequest())
            assert summary.failed == 0

    deployment = deployed(world.url, [step])
    enqueuing = [asyncio.create_task(enqueue(group)) for group in "abcd"]
    await asyncio.gather(*enqueuing, tick_on(), tick_on(), tick_on())
    await run_tick(deployment, TickRequest(limit=1000))
    assert await world.value("select count(*) from crontick.unfinished_jobs") == 0
    assert {group: sorted(jobs) for group, jobs in ran.items()} == ran
    assert sum(map(len, ran.values())) == await world.value("select count(*) from crontick.finished_jobs")
