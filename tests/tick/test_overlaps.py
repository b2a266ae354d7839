"""Ticks beside ticks, and beside users' open transactions."""

import asyncio
from collections import Counter
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

from crontick.jobs import LeaseLost, Unavailable, kind
from crontick.jobs.context import Context
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.tick.kinds import RUNS, count, deployment, finish, nap, noop, send
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio
Conn = psycopg.AsyncConnection[tuple[Any, ...]]


async def rows(conn: Conn, text: str, *values: object) -> list[tuple[Any, ...]]:
    return await (await conn.execute(text.encode(), values)).fetchall()


async def test_fifty_ticks_at_once_run_no_job_twice(database: str, conn: Conn) -> None:
    await conn.execute(RUNS)
    await run_tick(deployment(database), TickRequest())
    await count.enqueue_many(conn, [{}] * 200)
    known = deployment(database, max_parallel_ticks=50, db_connections=1, concurrency=4)
    summaries = await asyncio.gather(*[run_tick(known, TickRequest()) for _ in range(50)])
    assert sum(summary.succeeded for summary in summaries) == 200
    assert Counter(await rows(conn, "select count(*) from public.runs group by job")) == {(1,): 200}


async def test_no_more_ticks_run_at_once_than_allowed(database: str, conn: Conn) -> None:
    await nap.enqueue_many(conn, [{"seconds": 0.5}] * 40)
    known = deployment(database, max_parallel_ticks=3, concurrency=2)
    summaries = await asyncio.gather(*[run_tick(known, TickRequest(limit=2)) for _ in range(12)])
    assert [summary.not_run for summary in summaries].count(None) == 3


async def test_a_row_that_a_user_holds_delays_its_own_job_only(database: str, conn: Conn) -> None:
    held, *others = await nap.enqueue_many(conn, [{"seconds": 0.3}] * 5)
    tick = asyncio.create_task(run_tick(deployment(database), TickRequest()))
    async with await psycopg.AsyncConnection.connect(database) as user:
        await async_until(lambda: running(conn, 5))
        await user.execute("select from crontick.unfinished_jobs where id = %s for update", (held,))
        await async_until(lambda: finished(conn, others))
        assert await rows(conn, "select status from crontick.jobs where id = %s", held) == [("running",)]
        await user.rollback()
    summary = await tick
    assert (summary.succeeded, summary.lost) == (5, 0)


async def running(conn: Conn, jobs: int) -> bool:
    return await rows(conn, "select count(*) from crontick.jobs where status = 'running'") == [(jobs,)]


async def finished(conn: Conn, jobs: list[int]) -> bool:
    return len(await rows(conn, "select from crontick.finished_jobs where id = any(%s)", jobs)) == len(jobs)


async def test_a_queued_row_that_a_user_holds_is_left_where_it_is(database: str, conn: Conn) -> None:
    held, *_ = await noop.enqueue_many(conn, [{}] * 3)
    async with await psycopg.AsyncConnection.connect(database) as user:
        await user.execute("select from crontick.unfinished_jobs where id = %s for update", (held,))
        summary = await run_tick(deployment(database), TickRequest())
        assert summary.succeeded == 2
        await user.rollback()
    assert (await run_tick(deployment(database), TickRequest())).succeeded == 1


async def test_a_stale_holder_settles_nothing_and_sends_nothing(database: str, conn: Conn) -> None:
    refused: list[str] = []

    @kind("stale", timeout=20, needs=1)
    async def stale(payload: dict[str, Any], ctx: Context) -> None:
        await conn.execute("update crontick.test_clock set ahead = '1 hour'")
        await run_tick(deployment(database), TickRequest())
        ctx.lease_seconds = 0
        for door in (ctx.db, ctx.once().__aenter__, lambda: ctx.complete(conn)):
            try:
                opened = door()
                await opened  # type: ignore[misc]
            except LeaseLost:
                refused.append("refused")

    job = await stale.enqueue(conn, {})
    known = load_deployment(Settings(database_url=database, environment="test"), kinds=[stale])
    summary = await run_tick(known, TickRequest(limit=1))
    assert (summary.succeeded, summary.lost, len(refused)) == (0, 1, 3)
    assert await rows(conn, "select status, held_by from crontick.jobs where id = %s", job) == [("queued", "suspect")]


HOSTILE = ["hashjoin", "mergejoin", "material", "hashagg", "sort", "indexscan", "nestloop"]


async def test_never_more_than_asked_whatever_the_planner_is_told(database: str, conn: Conn) -> None:
    await run_tick(deployment(database), TickRequest())
    await noop.enqueue_many(conn, [{}] * 50)
    options = quote(" ".join(f"-c enable_{name}=off" for name in HOSTILE))
    url = database + ("&" if "?" in database else "?") + f"options={options}"
    summary = await run_tick(deployment(url, concurrency=5), TickRequest(limit=5))
    assert (summary.claimed, summary.succeeded) == (5, 5)
    assert await rows(conn, "select status, count(*) from crontick.jobs group by status order by status") == [
        ("queued", 45),
        ("succeeded", 5),
    ]


async def test_a_pooler_in_transaction_mode_serves_ticks(pgbouncer: str, conn: Conn) -> None:
    await conn.execute(RUNS)
    await finish.enqueue_many(conn, [{}] * 10)
    await send.enqueue(conn, {"key": "a"})
    await send.enqueue(conn, {"key": "a"})
    for _ in range(5):
        await noop.enqueue(conn, {}, group_key="g")
    known = deployment(pgbouncer, max_parallel_ticks=8)
    summaries = await asyncio.gather(*[run_tick(known, TickRequest()) for _ in range(8)])
    await conn.execute("update crontick.test_clock set ahead = '1 hour'")
    summaries.append(await run_tick(known, TickRequest()))
    assert sum(s.succeeded for s in summaries) == 17
    assert sum(s.duplicates for s in summaries) == 1
    assert await rows(conn, "select count(*), count(distinct job) from public.runs") == [(10, 10)]


async def test_a_read_only_database_is_unavailable_and_then_serves_again(database: str, conn: Conn) -> None:
    await noop.enqueue(conn, {})
    name = conn.info.dbname
    await conn.execute(f"alter database {name} set default_transaction_read_only = on".encode())
    with pytest.raises(Unavailable, match="read-only"):
        await run_tick(deployment(database), TickRequest())
    await conn.execute(f"alter database {name} reset default_transaction_read_only".encode())
    assert (await run_tick(deployment(database), TickRequest())).succeeded == 1


async def test_a_silent_connection_does_not_hold_a_tick(proxy: Proxy, database: str, conn: Conn) -> None:
    @kind("silence")
    async def silence(payload: dict[str, Any]) -> None:
        proxy.black_hole = True

    job = await silence.enqueue(conn, {})
    settings = Settings(database_url=proxy.url, environment="test", budget_seconds=2, max_budget_seconds=2)
    async with asyncio.timeout(30):
        with pytest.raises(Unavailable):
            await run_tick(load_deployment(settings, kinds=[silence]), TickRequest())
    proxy.black_hole = False
    assert await rows(conn, "select status from crontick.jobs where id = %s", job) == [("running",)]


async def test_a_database_that_cannot_be_reached_is_unavailable(database: str) -> None:
    settings = Settings(database_url="postgresql://nobody@127.0.0.1:1/none", environment="test", budget_seconds=1)
    with pytest.raises(Unavailable, match="out of reach"):
        await run_tick(load_deployment(settings), TickRequest())


async def test_times_are_right_whatever_the_role_s_zone_and_date_style(database: str, conn: Conn) -> None:
    await conn.execute(f"alter database {conn.info.dbname} set timezone = 'Asia/Tokyo'".encode())
    await conn.execute(f"alter database {conn.info.dbname} set datestyle = 'German'".encode())
    await noop.enqueue(conn, {})
    await noop.enqueue(conn, {}, run_at=3600)
    summary = await run_tick(deployment(database), TickRequest())
    [(due,)] = await rows(conn, "select extract(epoch from run_at) from crontick.jobs where status = 'queued'")
    assert summary.succeeded == 1
    assert summary.next_due_at is not None
    assert abs(summary.next_due_at.timestamp() - float(due)) < 1
