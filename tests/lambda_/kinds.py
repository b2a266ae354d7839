"""Kinds that do to a Lambda process what some functions do."""

import asyncio
import threading
from collections.abc import Awaitable
from typing import Any

from crontick.jobs import Context, kind

LEFT: list[Awaitable[None]] = []


@kind("greet")
async def greet(payload: dict[str, Any]) -> str:
    return "hello"


@kind("never_ends", timeout=0.2)
def never_ends(payload: dict[str, Any]) -> None:
    """Keeps its thread for ever."""
    threading.Event().wait()


@kind("leaves_a_task")
async def leaves_a_task(payload: dict[str, Any]) -> None:
    """Work for after the answer, which on Lambda has no after."""

    async def later() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            print("the task was ended", flush=True)

    LEFT.append(asyncio.get_running_loop().create_task(later()))


@kind("swallows", timeout=0.2)
async def swallows(payload: dict[str, Any], ctx: Context) -> None:
    """Ends for nobody."""
    while True:
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            continue
