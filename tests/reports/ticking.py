"""A process that runs one tick of a deployment with reports, to be killed in it."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from crontick.jobs import Context
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings


@asynccontextmanager
async def lingering(ctx: Context) -> AsyncIterator[None]:
    """The second part is committed, and its tick does not get to settle it."""
    yield
    if '"part": 2' in ctx.job.payload_text:
        print("committed", flush=True)
        await asyncio.Event().wait()


def main() -> None:
    url, config, around = sys.argv[1:]
    settings = Settings(
        database_url=url,
        environment="test",
        config_path=Path(config),
        keep_connection_seconds=0,
        around=around or None,
    )
    summary = asyncio.run(run_tick(load_deployment(settings), TickRequest()))
    print("ended", summary.succeeded, flush=True)


if __name__ == "__main__":
    main()
