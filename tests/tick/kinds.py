"""The kinds that the tests of a tick run."""

import asyncio
import os
from typing import Any

from crontick.jobs import Context, kind
from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.settings import Settings


@kind("noop")
async def noop(payload: dict[str, Any]) -> None:
    """End at once."""


@kind("nap", timeout=20, needs=0.1)
async def nap(payload: dict[str, float]) -> None:
    """Take as long as the payload says."""
    await asyncio.sleep(payload["seconds"])


@kind("count")
async def count(payload: dict[str, Any], ctx: Context) -> None:
    """Leave a row for each run."""
    async with ctx.db() as conn:
        await conn.execute("insert into public.runs (job) values (%s)", (ctx.job.id,))


@kind("finish")
async def finish(payload: dict[str, Any], ctx: Context) -> None:
    """Leave a row and end, in one transaction."""
    async with ctx.db() as conn, conn.transaction():
        await conn.execute("insert into public.runs (job) values (%s)", (ctx.job.id,))
        await ctx.complete(conn)


RUNS = "create table if not exists public.runs (job bigint not null)"


def deployment(url: str, **settings: Any) -> Deployment:
    """A deployment of these kinds."""
    known = Settings(database_url=url, environment="test", **settings)
    return load_deployment(known, kinds=ALL)


@kind("hang", timeout=20, needs=0.1)
async def hang(payload: dict[str, Any]) -> None:
    """Say that it began, and never end."""
    print("began", flush=True)
    await asyncio.sleep(600)


@kind("die")
async def die(payload: dict[str, Any]) -> None:
    """Take the process along."""
    os._exit(137)


@kind("hang_in_complete", timeout=20, needs=0.1)
async def hang_in_complete(payload: dict[str, bool], ctx: Context) -> None:
    """Complete, and never end: before the commit or after it."""
    async with ctx.db() as conn:
        async with conn.transaction():
            await conn.execute("insert into public.runs (job) values (%s)", (ctx.job.id,))
            await ctx.complete(conn)
            if not payload["committed"]:
                print("began", flush=True)
                await asyncio.sleep(600)
        print("began", flush=True)
        await asyncio.sleep(600)


@kind("send", marker="key", timeout=20, needs=0.1)
async def send(payload: dict[str, str], ctx: Context) -> None:
    """Send once; hang after the send when asked to."""
    async with ctx.once() as mark:
        print("sent", flush=True)
        mark.provider = "print"
        if payload.get("hang"):
            await asyncio.sleep(600)


ALL = [noop, nap, count, finish, hang, die, hang_in_complete, send]
TICK = """
import asyncio, sys
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.tick.kinds import deployment
summary = asyncio.run(run_tick(deployment(sys.argv[1], concurrency=int(sys.argv[2])), TickRequest()))
print("summary", summary.claimed, summary.succeeded, summary.lost, flush=True)
"""
