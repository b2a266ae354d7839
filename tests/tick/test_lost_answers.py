"""An answer that never arrived: what was done is recognised, and nothing is done twice."""

import psycopg
import pytest

from crontick.jobs import kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.tick.kinds import RUNS, count, deployment
from tests.worlds.proxy import Proxy

pytestmark = pytest.mark.anyio
Conn = psycopg.AsyncConnection[tuple[object, ...]]


async def test_a_lost_answer_to_the_opening_strands_no_job(proxy: Proxy, database: str, conn: Conn) -> None:
    await conn.execute(RUNS)
    await run_tick(deployment(database), TickRequest())
    ids = await count.enqueue_many(conn, [{}] * 10)
    proxy.lose_next_answer = True
    summary = await run_tick(deployment(proxy.url), TickRequest())
    runs = await (await conn.execute("select array_agg(job order by job) from public.runs")).fetchone()
    assert (summary.succeeded, summary.lost, runs) == (10, 0, (sorted(ids),))


async def test_a_lost_answer_to_a_settle_is_neither_lost_nor_counted_twice(proxy: Proxy, conn: Conn) -> None:
    @kind("losing")
    async def losing(payload: dict[str, object]) -> None:
        proxy.lose_next_answer = True

    settings = Settings(database_url=proxy.url, environment="test")
    job = await losing.enqueue(conn, {})
    summary = await run_tick(load_deployment(settings, kinds=[losing]), TickRequest())
    row = await (await conn.execute("select status, attempt from crontick.jobs where id = %s", (job,))).fetchone()
    counted = await (
        await conn.execute(
            "select succeeded, lost, kinds -> 'losing' -> 'n' from crontick.ticks order by id desc limit 1"
        )
    ).fetchone()
    assert (summary.succeeded, summary.lost) == (1, 0)
    assert (row, counted) == (("succeeded", 1), (1, 0, 1))
