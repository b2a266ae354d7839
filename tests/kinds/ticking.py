"""A tick of the kinds that ship in a process of its own, to be killed."""

import asyncio
import sys
from pathlib import Path

from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.kinds.conftest import Deployed
from tests.worlds.process import Child, Processes


def ticking(processes: Processes, deployed: Deployed, folder: Path) -> Child:
    """Started, with the same database and ``crontick.toml``."""
    url = deployed.deployment.settings.database_url
    assert url is not None
    return processes.run("-m", "tests.kinds.ticking", url, str(folder / "crontick.toml"))


if __name__ == "__main__":
    settings = Settings(database_url=sys.argv[1], environment="test", config_path=Path(sys.argv[2]))
    asyncio.run(run_tick(load_deployment(settings), TickRequest()))
