"""One group with very many jobs, and very many ticks: one in flight, in order, in nobody's way (P3, P25)."""

import asyncio
from typing import Any

import psycopg

from crontick.jobs import Context, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.faults.protocol import HandTick
from tests.faults.world import World, deployed

CROWD = """
insert into crontick.unfinished_jobs (
    kind, queue, priority, run_at, due_at, created_at, updated_at, payload, group_key, group_digest, in_line, held_by
)
select 'step', 'default', 0, now() - interval '1 hour', 'infinity', now(), now(), '{}', n %% %(groups)s,
    sha256((n %% %(groups)s)::text::bytea), true, 'group'
from generate_series(1, 100000) as n
"""


async def test_fifty_ticks_at_once_over_one_group_run_one_at_a_time_and_in_order(world: World) -> None:
    ran: list[int] = []
    inside: set[int] = set()

    @kind("step", timeout=60, needs=0)
    async def step(payload: dict[str, Any], ctx: Context) -> None:
        assert not inside
        inside.add(ctx.job.id)
        await asyncio.sleep(0)
        ran.append(ctx.job.id)
        inside.remove(ctx.job.id)

    jobs = await step.enqueue_many(world.conn, [{}] * 100, group_key="g")
    deployment = deployed(world.url, [step], max_parallel_ticks=100, concurrency=2)
    while len(ran) < len(jobs):
        summaries = await asyncio.gather(*(run_tick(deployment, TickRequest()) for _ in range(50)))
        assert sum(summary.failed + summary.lost + summary.rescued for summary in summaries) == 0
        assert any(summary.succeeded for summary in summaries)
    assert ran == jobs


def crowd(conn: psycopg.Connection[Any], *, groups: int) -> None:
    """A hundred thousand jobs that wait in so many groups, all of which were called."""
    conn.execute(CROWD.encode(), {"groups": groups})
    conn.execute(
        "insert into crontick.group_calls select distinct group_digest from crontick.unfinished_jobs where in_line"
    )


def touched(conn: psycopg.Connection[Any], text: str, *values: object) -> int:
    """Buffers, of its own and of all that it calls."""
    plan: Any = conn.execute(f"explain (analyze, buffers, format json) {text}".encode(), values).fetchall()[0][0]
    top = plan[0]["Plan"]
    return int(top["Shared Hit Blocks"] + top["Shared Read Blocks"])


def test_a_hundred_thousand_of_one_group_cost_the_claim_of_others_and_the_placer_what_none_cost(
    sync_conn: psycopg.Connection[Any],
) -> None:
    conn = sync_conn
    conn.prepare_threshold = None
    numbers = iter(range(1000, 2000))

    def exchange(seats: int) -> int:
        """The buffers of placing and claiming, with as many others due."""
        conn.execute("select crontick.enqueue('step') from generate_series(1, %s)", (seats,))
        tick, claim = HandTick(conn, "step"), next(numbers)
        asked = "select id from crontick.claim(%s, %s, %s, 1, 0, 40, '{step}', null, null, null, null, false, false)"
        cost = touched(conn, "select crontick.place()") + touched(conn, asked, tick.opening, claim, seats)
        [(taken,)] = conn.execute("select job_ids from crontick.claims where claim = %s", (claim,)).fetchall()
        assert len(taken) == seats
        conn.execute("select crontick.settle(%s, %s, %s, null, null)", (tick.opening, taken, [claim] * seats))
        return cost

    exchange(20)  # a new backend reads its catalogues first
    conn.execute("vacuum (analyze) crontick.unfinished_jobs")
    empty = exchange(20)
    crowd(conn, groups=1)
    conn.execute("vacuum (analyze) crontick.unfinished_jobs")
    head = HandTick(conn, "step")
    head.place()
    [running] = head.claim()
    assert exchange(20) <= 1.5 * empty
    head.settle(running)
    costs = []
    for _ in range(300):
        costs.append(touched(conn, "select crontick.place()"))
        [running] = head.claim()
        head.settle(running)
    assert max(costs[-20:]) <= 2 * min(costs[:20]), "the three hundredth of the line costs what the first did"
    assert max(costs) < 200


def test_the_placer_of_many_groups_walks_over_none_of_them_before_the_table_was_ever_analysed(
    sync_conn: psycopg.Connection[Any],
) -> None:
    sync_conn.prepare_threshold = None
    crowd(sync_conn, groups=1000)
    sync_conn.execute("select crontick.place(20)")  # a new backend reads its catalogues first
    assert touched(sync_conn, "select crontick.place(20)") < 1000
    assert sync_conn.execute("select count(*) from crontick.unfinished_jobs where held_by is null").fetchone() == (40,)


async def test_jobs_of_other_groups_behind_a_blocked_one_run_in_the_first_tick(world: World) -> None:
    @kind("step", timeout=60, needs=0)
    async def step(payload: dict[str, Any]) -> None:
        if payload.get("fail"):
            raise OSError

    await step.enqueue(world.conn, {"fail": True}, group_key="blocked")
    await step.enqueue_many(world.conn, [{}] * 1000, group_key="blocked")
    await run_tick(deployed(world.url, [step]), TickRequest())
    others = [await step.enqueue(world.conn, {}, group_key=f"g{n}") for n in range(10)]
    summary = await run_tick(deployed(world.url, [step]), TickRequest(limit=10))
    assert (summary.claimed, summary.succeeded) == (10, 10)
    assert [await world.status(job) for job in others] == ["succeeded"] * 10
    assert await world.rows("select waiting, head_status from crontick.blocked_groups") == [(1000, "failed")]


async def test_a_group_at_its_limit_of_one_hides_nobody_behind_it(world: World) -> None:
    release = asyncio.Event()

    @kind("step", timeout=60, needs=0)
    async def step(payload: dict[str, Any]) -> None:
        if payload.get("wait"):
            await release.wait()

    await step.enqueue(world.conn, {"wait": True}, group_key="a")
    await step.enqueue_many(world.conn, [{}] * 500, group_key="a")
    last = await step.enqueue(world.conn, {}, group_key="b")
    deployment = deployed(world.url, [step])
    one = asyncio.create_task(run_tick(deployment, TickRequest(limit=10)))
    try:
        while await world.status(last) != "succeeded":
            await run_tick(deployment, TickRequest(limit=10))
    finally:
        release.set()
        await one
