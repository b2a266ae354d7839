"""A process that makes a whole report and says how much it grew meanwhile, in MiB."""

import asyncio
import sys
from pathlib import Path

from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.worlds.process import peak_mib


async def _made(url: str, config: str) -> float:
    settings = Settings(
        database_url=url,
        environment="test",
        config_path=Path(config),
        keep_connection_seconds=0,
        budget_seconds=900,
        max_budget_seconds=900,
    )
    deployment = load_deployment(settings)
    # The first part of each has what is imported and made once.
    await run_tick(deployment, TickRequest(limit=1))
    before = peak_mib()
    await run_tick(deployment, TickRequest(limit=1000))
    return peak_mib() - before


def main() -> None:
    print(f"{asyncio.run(_made(*sys.argv[1:])):.1f}", flush=True)


if __name__ == "__main__":
    main()
