"""Jobs of one group run one at a time, in order; a group stands in nobody else's way."""

import asyncio
from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, Permanent, Snooze, kind
from tests.engine.conftest import World
from tests.engine.test_order import noting

pytestmark = pytest.mark.anyio


async def test_one_tick_runs_a_group_in_order_and_one_at_a_time(world: World) -> None:
    ran: list[int] = []
    inside: set[int] = set()

    @kind("note")
    async def note(payload: Any, ctx: Context) -> None:
        assert not inside
        inside.add(ctx.job.id)
        await asyncio.sleep(0)
        inside.remove(ctx.job.id)
        ran.append(ctx.job.id)

    jobs = [await note.enqueue(world.conn, {}, group_key="g") for _ in range(10)]
    summary = await world.tick(note)
    assert (summary.succeeded, ran) == (10, jobs)


async def test_priority_does_not_change_the_order_inside_a_group(world: World) -> None:
    ran: list[int] = []
    note = noting(ran)
    jobs = [await note.enqueue(world.conn, {}, group_key="g", priority=priority) for priority in (0, 9, 5)]
    await world.tick(note)
    assert ran == jobs


async def test_a_failing_head_blocks_its_followers_until_it_succeeds(world: World) -> None:
    ran: list[int] = []

    @kind("note")
    async def note(payload: Any, ctx: Context) -> None:
        if payload == "fail" and ctx.attempt == 1:
            raise ValueError
        ran.append(ctx.job.id)

    head = await note.enqueue(world.conn, "fail", group_key="g")
    follower = await note.enqueue(world.conn, "go", group_key="g")
    other = await note.enqueue(world.conn, "go", group_key="h")
    await world.tick(note)
    assert (ran, await world.status(head, follower)) == ([other], ["failed", "queued"])
    await world.later(100)
    await world.tick(note)
    assert ran == [other, head, follower]


@pytest.mark.parametrize("how", ["dead", "cancelled", "requeued"])
async def test_a_dead_or_cancelled_head_frees_its_group(world: World, how: str) -> None:
    @kind("note")
    async def note(payload: Any) -> None:
        if payload == "die":
            raise Permanent("no")
        if payload == "fail":
            raise ValueError

    head = await note.enqueue(world.conn, "fail" if how == "cancelled" else "die", group_key="g")
    follower = await note.enqueue(world.conn, "go", group_key="g")
    await world.tick(note)
    if how == "cancelled":
        assert await world.status(follower) == ["queued"]
        await world.rows("select crontick.cancel(%s, 'ann')", head)
        await world.tick(note)
    assert await world.status(follower) == ["succeeded"]
    if how == "requeued":
        copy = await world.one("select crontick.requeue(%s, 'ann', null, '\"go\"')", head)
        await world.tick(note)
        assert await world.status(copy) == ["succeeded"]


async def test_a_dead_head_that_is_requeued_joins_the_end(world: World) -> None:
    ran: list[int] = []

    @kind("note")
    async def note(payload: Any, ctx: Context) -> None:
        ran.append(ctx.job.id)
        if payload == "die":
            raise Permanent("no")

    head = await note.enqueue(world.conn, "die", group_key="g")
    followers = await note.enqueue_many(world.conn, ["go"] * 3, group_key="g")
    await world.tick(note, limit=1)
    copy = await world.one("select crontick.requeue(%s, 'ann', null, '\"go\"')", head)
    last = await note.enqueue(world.conn, "go", group_key="g")
    await world.tick(note)
    assert ran == [head, *followers, copy, last]


async def test_a_member_that_is_not_due_yet_does_not_block(world: World) -> None:
    ran: list[int] = []
    note = noting(ran)
    future = await note.enqueue(world.conn, {}, group_key="g", run_at=3600)
    due = await note.enqueue(world.conn, {}, group_key="g")
    await world.tick(note)
    assert ran == [due]
    await world.later(3601)
    await world.tick(note)
    assert ran == [due, future]


async def test_a_snoozed_head_blocks(world: World) -> None:
    @kind("note")
    async def note(payload: Any) -> None:
        if payload == "snooze":
            raise Snooze(60)

    await note.enqueue(world.conn, "snooze", group_key="g")
    follower = await note.enqueue(world.conn, "go", group_key="g")
    await world.tick(note)
    assert await world.status(follower) == ["queued"]


async def test_a_head_that_expired_frees_its_group_in_the_same_tick(world: World) -> None:
    note = noting([])
    await world.rows("select crontick.enqueue('note', group_key => 'g', expires_at => now() + interval '1 s')")
    follower = await note.enqueue(world.conn, {}, group_key="g")
    await world.later(2)
    await world.tick(note)
    assert await world.status(follower) == ["succeeded"]


async def test_a_group_of_a_hundred_starves_nobody(world: World) -> None:
    ran: list[int] = []
    note = noting(ran)
    await note.enqueue_many(world.conn, [{}] * 100, group_key="g")
    others = await note.enqueue_many(world.conn, [{}] * 20)
    await world.tick(note, limit=40)
    assert set(others) <= set(ran)


async def test_a_transaction_that_commits_late_still_gets_its_turn(world: World, database: str) -> None:
    ran: list[int] = []
    note = noting(ran)
    async with await psycopg.AsyncConnection.connect(database) as late:
        slow = await note.enqueue(late, {}, group_key="g")
        quick = await note.enqueue(world.conn, {}, group_key="g")
        await world.tick(note)
        assert ran == [quick]
        await late.commit()
    await world.tick(note)
    assert ran == [quick, slow]


async def test_three_groups_run_beside_each_other(world: World) -> None:
    note = noting([])
    for n in range(30):
        await note.enqueue(world.conn, {}, group_key=f"g{n % 3}")
    assert (await world.tick(note)).succeeded == 30
    assert await world.one("select count(*) from crontick.group_calls") == 0
