"""A kind that does nothing, or takes its time, and of which a table tells how often it was done."""

import asyncio
import os
from collections.abc import Mapping

import psycopg

from crontick.jobs import Context, kind


class Effects:
    """The jobs that ran in one tick, written down when it ends."""

    def __init__(self) -> None:
        self.jobs: list[int] = []

    def close(self) -> None:
        with psycopg.connect(os.environ["CRONTICK_DATABASE_URL"]) as conn:
            with conn.cursor().copy("copy effects (job) from stdin") as rows:
                for job in self.jobs:
                    rows.write_row((job,))


@kind("count")
async def count(payload: Mapping[str, float], ctx: Context) -> None:
    if "seconds" in payload:
        await asyncio.sleep(payload["seconds"])
    ctx.shared(Effects).jobs.append(ctx.job.id)
