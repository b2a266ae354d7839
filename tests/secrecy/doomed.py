"""A process that ticks a kind with a secret field, and hangs in it until it is killed."""

import asyncio
import os
import sys
from typing import Any

from crontick.jobs import kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.sealing import KEYS
from crontick.jobs.settings import Settings


@kind("login", secret=["token"], timeout=20, needs=0.1)
async def hanging(payload: dict[str, Any]) -> None:
    print("began", flush=True)
    await asyncio.sleep(600)


if __name__ == "__main__":
    settings = Settings(database_url=sys.argv[1], environment="test", encryption_keys=(os.environ[KEYS],))
    asyncio.run(run_tick(load_deployment(settings, kinds=[hanging]), TickRequest()))
