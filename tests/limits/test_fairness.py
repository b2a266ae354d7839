"""What waits for a limit or a seat keeps nobody else waiting."""

import asyncio
from collections import Counter
from itertools import product
from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.kind import Kind
from crontick.sql import SCHEMA
from tests.limits.conftest import LimitedWorld

pytestmark = pytest.mark.anyio
TENANTS = '[limits.tenant]\nkind = "work"\nkey = "payload.tenant"\nconcurrency = 2\n'


def counting(ran: list[str], *, most: Counter[str] | None = None) -> Kind[dict[str, Any]]:
    """A kind that notes in which order its tenants' jobs begin, and how many of each run at once."""
    running: Counter[str] = Counter()

    @kind("work", timeout=30, needs=0)
    async def work(payload: dict[str, Any], ctx: Context) -> None:
        tenant = payload.get("tenant", "")
        ran.append(tenant)
        running[tenant] += 1
        if most is not None:
            most[tenant] = max(most[tenant], running[tenant])
        await asyncio.sleep(0.01)
        running[tenant] -= 1

    return work


async def test_a_noisy_tenant_takes_its_share_of_the_seats_and_no_more(world: LimitedWorld) -> None:
    ran: list[str] = []
    most: Counter[str] = Counter()
    work = counting(ran, most=most)
    world.says(TENANTS)
    await work.enqueue_many(world.conn, [{"tenant": "noisy"}] * 1500)
    await work.enqueue_many(world.conn, [{"tenant": name} for name in "abcde"])
    summary = await world.tick(work, limit=20)
    assert ran[:7] == ["noisy", "noisy", *"abcde"], "in the first exchange, though 1,500 were before them"
    assert (summary.claimed, most["noisy"], summary.more) == (20, 2, True)
    assert await world.one("select count(*) from crontick.jobs where attempt > 1") == 0


async def test_a_job_without_the_key_is_no_way_round_the_limit(world: LimitedWorld) -> None:
    most: Counter[str] = Counter()
    work = counting([], most=most)
    world.says(TENANTS)
    await work.enqueue_many(world.conn, [{}] * 6)
    await work.enqueue_many(world.conn, [{"tenant": None}] * 6)
    assert (await world.tick(work)).succeeded == 12
    assert most[""] <= 2


async def test_a_line_goes_by_priority_and_then_by_age(world: LimitedWorld) -> None:
    ran: list[str] = []
    work = counting(ran)
    world.says('[limits.one]\nkind = "work"\nconcurrency = 1')
    for tenant, priority in (("b", 0), ("c", 0), ("a", 5), ("d", -5)):
        await work.enqueue(world.conn, {"tenant": tenant}, priority=priority)
    assert (await world.tick(work)).succeeded == 4
    assert ran == ["a", "b", "c", "d"]


async def test_a_job_of_two_limits_waits_for_both_and_draws_from_none_meanwhile(world: LimitedWorld) -> None:
    work = counting([])
    world.says('[limits.day]\nkind = "work"\nrate = "9/day"\n[limits.hour]\nqueue = "default"\nrate = "2/hour"')
    await work.enqueue_many(world.conn, [{}] * 5)
    assert (await world.tick(work)).succeeded == 2
    assert await world.waiting() == {"hour": 3}
    drawn = (
        "select round(extract(epoch from tat - crontick.now()) / 9600) from crontick.limit_lines where limit_name = %s"
    )
    assert await world.one(drawn, "day") == 2
    await world.later(1800)
    assert (await world.tick(work)).succeeded == 1


async def test_many_lines_that_wait_are_all_looked_at(world: LimitedWorld) -> None:
    ran: list[str] = []
    work = counting(ran)
    world.says('[limits.tenant]\nkind = "work"\nkey = "payload.tenant"\nrate = "1/hour"')
    for _ in range(2):
        await work.enqueue_many(world.conn, [{"tenant": str(n)} for n in range(90)])
    assert (await world.tick(work, limit=1000)).succeeded == 90
    await world.later(3600)
    assert (await world.tick(work, limit=1000)).succeeded == 90
    assert Counter(Counter(ran).values()) == {2: 90}


async def test_a_queue_has_its_seats_and_the_others_keep_theirs(world: LimitedWorld) -> None:
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()

    async def run(payload: dict[str, Any], ctx: Context) -> None:
        running[ctx.job.queue] += 1
        most[ctx.job.queue] = max(most[ctx.job.queue], running[ctx.job.queue])
        await asyncio.sleep(0.02)
        running[ctx.job.queue] -= 1

    slow = kind("slow", queue="slow", timeout=30, needs=0)(run)
    quick = kind("quick", timeout=30, needs=0)(run)
    world.says("[queues.slow]\nseats = 2")
    world.settings["concurrency"] = 6
    await world.tick(slow, quick)
    for priority in (3, 2, 1):
        await slow.enqueue_many(world.conn, [{}] * 5, priority=priority)
    await quick.enqueue_many(world.conn, [{}] * 12)
    summary = await world.tick(slow, quick)
    assert summary.succeeded == 27
    assert most["slow"] == 2
    assert most["default"] >= 4


async def test_seats_of_a_queue_hold_where_the_oldest_go_first(world: LimitedWorld) -> None:
    world.says("[queues.slow]\nseats = 1")
    seats = '{"slow": 1}'
    work = kind("slow", queue="slow")(_nothing)
    await world.tick(work)
    for priority in (0, 1, 2):
        await work.enqueue_many(world.conn, [{}] * 10, priority=priority)
    await world.rows(
        f"select crontick.open_tick(5, {SCHEMA}, 'test', '', '', 25, 40, 4, false, '{{slow}}', '', null, '', '', '')"
    )
    claim = "crontick.claim(5, 7, 10, 0, 0, 40, '{slow}', null, null, null, null, true, false, null, null, %s)"
    assert await world.one(f"select count(*) from {claim}", seats) == 1


async def _nothing(payload: dict[str, Any]) -> None:
    """End at once."""


@pytest.mark.parametrize(
    ("grouped", "rated", "ranked", "unique", "filtered"),
    [combination for combination in product([False, True], repeat=5) if sum(combination) == 2],
)
async def test_each_pair_of_what_orders_jobs_works(
    world: LimitedWorld, *, grouped: bool, rated: bool, ranked: bool, unique: bool, filtered: bool
) -> None:
    work = counting([])
    limit = 'rate = "4/hour"' if rated else "concurrency = 3"
    world.says(f'[limits.work]\nkind = "work"\n{limit}\n[queues.default]\nseats = 2')
    for n in range(6):
        await work.enqueue(
            world.conn,
            {"tenant": str(n)},
            group_key="g" if grouped else None,
            priority=n % 3 if ranked else 0,
            unique_key=f"k{n // 2}" if unique else None,
        )
    jobs = 3 if unique else 6
    summary = await world.tick(work, kinds=("work",) if filtered else None)
    assert summary.succeeded == (min(jobs, 4) if rated else jobs)
    await world.later(3600)
    await world.tick(work)
    assert await world.counts() == {"succeeded": jobs}


async def test_a_waiting_row_that_a_user_holds_keeps_its_line_for_nobody(world: LimitedWorld) -> None:
    ran: list[str] = []
    work = counting(ran)
    world.says('[limits.work]\nkind = "work"\nrate = "1/hour"')
    jobs = await work.enqueue_many(world.conn, [{"tenant": name} for name in "abc"])
    await world.tick(work)
    await world.later(3600)
    async with await psycopg.AsyncConnection.connect(world.url) as user:
        await user.execute("select from crontick.unfinished_jobs where id = %s for update", (jobs[1],))
        assert (await world.tick(work)).succeeded == 1
        await user.rollback()
    await world.later(3600)
    await world.tick(work)
    assert ran == ["a", "c", "b"]


async def test_what_expired_in_a_line_is_cancelled_and_takes_no_room(world: LimitedWorld) -> None:
    ran: list[str] = []
    work = counting(ran)
    world.says('[limits.work]\nkind = "work"\nrate = "1/hour"')
    await work.enqueue(world.conn, {"tenant": "a"})
    soon = await world.one("select crontick.now() + interval '1 minute'")
    for _ in range(30):
        await work.enqueue(world.conn, {"tenant": "late"}, expires_at=soon)
    await work.enqueue(world.conn, {"tenant": "b"})
    await world.tick(work)
    await world.later(3600)
    await world.tick(work)
    assert (ran, await world.counts()) == (["a", "b"], {"succeeded": 2, "cancelled": 30})


async def test_a_full_tenant_in_front_whose_job_runs_elsewhere_hides_nobody(world: LimitedWorld) -> None:
    ran: list[str] = []
    work = counting(ran)
    world.says('[limits.tenant]\nkind = "work"\nkey = "payload.tenant"\nconcurrency = 1')
    await work.enqueue_many(world.conn, [{"tenant": "a"}] * 501)
    await world.rows(
        f"select crontick.open_tick(5, {SCHEMA}, 'test', '', '', 25, 40, 4, false, '{{work}}', '', null, '', '', '')"
    )
    claim = "select id from crontick.claim(5, 7, 1, 0, 0, 40, '{work}', null, null, null, null, true, false)"
    assert len(await world.rows(claim)) == 1
    await work.enqueue(world.conn, {"tenant": "b"})
    assert (await world.tick(work)).succeeded == 1
    assert (ran, await world.waiting()) == (["b"], {"tenant": 500})


@pytest.mark.parametrize("priority", [0, -10], ids=["in its lane", "in another lane"])
async def test_behind_a_line_that_another_tick_makes_the_next_job_has_the_seat(
    world: LimitedWorld, database: str, priority: int
) -> None:
    """What has no answer yet is not picked again by the same claim, which would end with an empty seat."""
    ran: list[str] = []
    world.says('[limits.tenant]\nkind = "work"\nconcurrency = 1\n')
    world.settings["concurrency"] = 1
    work = counting(ran)

    @kind("free")
    async def free(payload: dict[str, Any]) -> None:
        ran.append("free")

    waits = await work.enqueue(world.conn, {"tenant": "waits"})
    await free.enqueue(world.conn, {}, priority=priority)
    async with await psycopg.AsyncConnection.connect(database) as drawing:
        await drawing.execute("select pg_advisory_xact_lock('crontick.limit_lines'::regclass::oid::int, 0)")
        await world.tick(work, free)
        assert (ran, await world.status(waits)) == (["free"], ["queued"])
    await world.tick(work, free)
    assert ran == ["free", "waits"]
