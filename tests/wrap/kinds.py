"""Kinds of the apps that crontick is wrapped around."""

import asyncio
import os
import signal
import threading
from pathlib import Path
from typing import Any

from crontick.jobs import Context, kind
from tests.worlds.waiting import async_until


@kind("hang", timeout=600, needs=0.1)
async def hang(payload: dict[str, Any]) -> None:
    """Never end."""
    await asyncio.sleep(600)


@kind("wait", timeout=20, needs=0.1)
async def wait(payload: dict[str, str]) -> None:
    """End once that file is there."""
    await async_until(Path(payload["path"]).exists, seconds=20)


@kind("stick", timeout=1, needs=0.1)
def stick(payload: dict[str, Any]) -> None:
    """Hold a thread for ever."""
    threading.Event().wait()


@kind("look_around")
async def look_around(payload: dict[str, Any]) -> dict[str, Any]:
    """What a tick made of its process."""
    return {
        "pid": os.getpid(),
        "threads": sorted(thread.name for thread in threading.enumerate()),
        "signals": [repr(signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT)],
    }


@kind("tell")
async def tell(payload: dict[str, str], ctx: Context) -> None:
    """Log what it was given, and fail with it."""
    ctx.log.warning("told %s", payload["text"])
    raise RuntimeError(payload["text"])
