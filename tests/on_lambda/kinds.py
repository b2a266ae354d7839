"""Kinds that do to a Lambda process what some functions do."""

import asyncio
import os
import threading
from collections.abc import Awaitable
from typing import Any

import psycopg

from crontick.jobs import Context, kind
from tests.faults.doomed import stop, try_doors

LEFT: list[Awaitable[None]] = []


@kind("greet")
async def greet(payload: dict[str, Any]) -> str:
    return "hello"


@kind("never_ends", timeout=0.2)
def never_ends(payload: dict[str, Any]) -> None:
    """Keeps its thread for ever."""
    threading.Event().wait()


@kind("overstays", timeout=0.2)
def overstays(payload: dict[str, Any], ctx: Context) -> None:
    """Past its timeout, and over before its tick is."""
    while ctx.cut is None:
        threading.Event().wait(0.005)


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


@kind("drops_its_database", timeout=0.5)
def drops_its_database(payload: dict[str, Any]) -> None:
    """Takes the schema's way in away from the tick that runs it, and keeps its thread."""
    with psycopg.connect(os.environ["CRONTICK_DATABASE_URL"], autocommit=True) as conn:
        conn.execute("alter schema crontick rename to gone")
    threading.Event().wait()


@kind("tries_doors", timeout=60, needs=0)
async def tries_doors(payload: dict[str, Any], ctx: Context) -> None:
    """Waits until told to go on; then the doors of a lease that is over are shut."""
    await stop("in", ctx)
    await try_doors(ctx)
