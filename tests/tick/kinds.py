"""The kinds that the tests of a tick run."""

import asyncio
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
    return load_deployment(known, kinds=[noop, nap, count, finish])
