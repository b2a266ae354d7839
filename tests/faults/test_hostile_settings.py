"""Settings of roles and servers that change how a plan or a text comes out do not change what a tick does."""

import asyncio
from collections.abc import Iterator
from urllib.parse import quote

import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.faults import doomed
from tests.faults.world import World, deployed
from tests.worlds.waiting import async_until

B_A02 = " ".join(
    f"-c enable_{path}=off" for path in ("hashjoin", "mergejoin", "material", "hashagg", "sort", "indexscan")
)


@pytest.mark.parametrize(
    "options", [B_A02, "-c plan_cache_mode=force_generic_plan", "-c plan_cache_mode=force_custom_plan"]
)
@pytest.mark.parametrize("queues", [1, 3])
async def test_never_more_than_asked_whatever_the_planner_may_not_do(world: World, options: str, queues: int) -> None:
    release = asyncio.Event()

    @kind("slow", timeout=60, needs=0)
    async def slow(payload: dict[str, str]) -> None:
        await release.wait()

    for nth in range(queues):
        await slow.enqueue_many(world.conn, [{}] * 51, queue=f"q{nth}")
    url = f"{world.url}&options={quote(options)}"
    tick = asyncio.create_task(run_tick(deployed(url, [slow], concurrency=5), TickRequest(limit=5)))
    await async_until(lambda: world.value("select count(*) > 0 from crontick.unfinished_jobs where status = 'running'"))
    assert await world.value("select count(*) from crontick.unfinished_jobs where status = 'running'") == 5
    release.set()
    summary = await tick
    assert (summary.claimed, summary.succeeded) == (5, 5)
    assert await world.value("select count(*) from crontick.unfinished_jobs") == 51 * queues - 5


@pytest.fixture
def abroad(world: World) -> Iterator[World]:
    """A role whose sessions are in Tokyo and write dates the German way."""
    with psycopg.connect(world.url, autocommit=True) as conn:
        role = f"abroad_{conn.info.dbname}"
        conn.execute(f"create role {role} superuser login".encode())
        conn.execute(f"alter role {role} set timezone = 'Asia/Tokyo'".encode())
        conn.execute(f"alter role {role} set datestyle = 'German, DMY'".encode())
        conn.execute(f"alter role {role} set intervalstyle = 'sql_standard'".encode())
        conn.execute(f"alter role {role} set extra_float_digits = -10".encode())
        world.url = world.url.replace("postgres@", f"{role}@")
        yield world
        conn.execute(f"drop owned by {role}; drop role {role}".encode())


async def test_times_are_right_in_any_zone_and_style(abroad: World) -> None:
    seen = []

    @kind("timed", timeout=60, needs=0, backoff=(60,))
    async def timed(payload: dict[str, str], ctx: Context) -> None:
        seen.append((ctx.job.run_at, ctx.job.created_at))
        raise OSError("once")

    async with await psycopg.AsyncConnection.connect(abroad.url, autocommit=True) as conn:
        job = await timed.enqueue(conn, {})
        later = await timed.enqueue(conn, {}, run_at=3600.0)
    summary = await run_tick(deployed(abroad.url, [timed]), TickRequest())
    assert summary.failed == 1
    now = await abroad.value("select crontick.now()")
    assert all(abs((now - moment).total_seconds()) < 30 for moment in seen[0])
    assert summary.next_due_at is not None
    assert 45 < (summary.next_due_at - now).total_seconds() < 75
    told = "select extract(epoch from run_at - crontick.now())::int from crontick.jobs where id = %s"
    assert 45 < await abroad.value(told, job) < 75
    assert 3500 < await abroad.value(told, later) <= 3600


async def test_leases_and_rescue_are_right_in_any_zone_and_style(abroad: World) -> None:
    await abroad.enqueue(doomed.wait)
    child = abroad.doomed()
    child.line()
    seconds = await abroad.value(
        "select extract(epoch from lease_expires_at - crontick.now())::int from crontick.claims"
    )
    assert 30 < seconds <= 40
    child.kill()
    await abroad.later("30 seconds")
    assert (await abroad.tick(kinds=("note",))).rescued == 0
    await abroad.later("11 seconds")
    assert (await abroad.tick(kinds=("note",))).rescued == 1
