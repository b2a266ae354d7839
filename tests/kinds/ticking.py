"""Ticks of the kinds that ship in a process of its own, to be killed, or to say how it grew."""

import asyncio
import sys
from pathlib import Path

from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.kinds.conftest import Deployed
from tests.worlds.process import Child, Processes, peak_mib


def ticking(processes: Processes, deployed: Deployed, folder: Path, *, limit: int = 100) -> Child:
    """Started, with the same database and ``crontick.toml``; it prints by how many MiB the second of two ticks grew it.

    ``limit`` is that of the first.
    """
    url = deployed.deployment.settings.database_url
    assert url is not None
    return processes.run("-m", "tests.kinds.ticking", url, str(folder / "crontick.toml"), str(limit))


async def _grown(settings: Settings, limit: int) -> float:
    deployment = load_deployment(settings)
    await run_tick(deployment, TickRequest(limit=limit))
    before = peak_mib()
    await run_tick(deployment, TickRequest())
    return peak_mib() - before


if __name__ == "__main__":
    settings = Settings(database_url=sys.argv[1], environment="test", config_path=Path(sys.argv[2]))
    print(f"{asyncio.run(_grown(settings, int(sys.argv[3]))):.1f}", flush=True)
