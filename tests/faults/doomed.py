"""Kinds that say what they are doing, and a process that runs one tick of them, to be killed at any of it."""

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypedDict

import msgspec

from crontick.jobs import Context, LeaseLost, Retry, kind

ON_TRIAL: list[bool] = []
"""Not empty in a process that may die."""
GO_ON = signal.SIGUSR1
"""Lets the functions that wait go on."""


class Called(TypedDict, total=False):
    """``stop``: where a process may die, wait for it. ``down``: the answer is 503."""

    stop: bool
    down: bool


def say(what: str, ctx: Context) -> None:
    print(what, ctx.job.id, flush=True)


async def stop(where: str, ctx: Context) -> None:
    """Say where, and wait there until told to go on."""
    gone_on = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(GO_ON, gone_on.set)
    say(where, ctx)
    await gone_on.wait()


async def write(ctx: Context) -> None:
    """One row for each run, in a transaction of its own."""
    async with ctx.db() as conn:
        await conn.execute("insert into ran (job, attempt) values (%s, %s)", (ctx.job.id, ctx.attempt))


@kind("note")
async def note(payload: dict[str, Any], ctx: Context) -> None:
    await write(ctx)


@kind("wait", timeout=60, needs=0)
async def wait(payload: dict[str, Any], ctx: Context) -> None:
    await write(ctx)
    await stop("in", ctx)
    say("out", ctx)


@kind("poison", max_attempts=20)
async def poison(payload: dict[str, Any], ctx: Context) -> None:
    say("in", ctx)
    if not ON_TRIAL:
        raise AssertionError("poison ran in the test's own process")
    if payload.get("how") == "segmentation fault":
        ctypes.string_at(0)
    os._exit(137)


@kind("mail", marker="key")
async def mail(payload: dict[str, Any], ctx: Context) -> None:
    if payload.get("stop") == "before":
        await stop("before", ctx)
    async with ctx.once() as mark:
        await write(ctx)
        mark.provider = "smtp"
        if payload.get("stop") == "sending":
            await stop("sending", ctx)
    if payload.get("stop") == "sent":
        await stop("sent", ctx)


@kind("pay", timeout=60, needs=0)
async def pay(payload: dict[str, Any], ctx: Context) -> None:
    """Its own row and its success are one transaction; waits on the one side of the commit or on the other."""
    async with ctx.db() as conn:
        async with conn.transaction():
            await conn.execute("insert into ran (job, attempt) values (%s, %s)", (ctx.job.id, ctx.attempt))
            await ctx.complete(conn, {"paid": True})
            if payload.get("stop") == "uncommitted":
                await stop("uncommitted", ctx)
        if payload.get("stop") == "committed":
            await stop("committed", ctx)


@kind("late", timeout=60, needs=0)
async def late(payload: dict[str, Any], ctx: Context) -> None:
    """Blocks its loop until told to go on, tries every door, and says which of them were shut."""
    await write(ctx)
    signal.pthread_sigmask(signal.SIG_BLOCK, {GO_ON})
    say("in", ctx)
    signal.sigwait({GO_ON})
    await try_doors(ctx)


async def try_doors(ctx: Context) -> None:
    """Try every door of a context, and say which of them are shut."""
    doors: dict[str, Callable[[], Any]] = {
        "once": lambda: ctx.once("k").__aenter__(),
        "http": lambda: ctx.http,
        "db": ctx.db,
        "complete": lambda: ctx.complete(None),
        "enqueue": lambda: ctx.enqueue(note, {}),
    }
    for name, door in doors.items():
        try:
            opened = door()
            if name == "once":
                await opened
            say(f"{name} is open", ctx)
        except LeaseLost:
            say(f"{name} is shut", ctx)


@kind("block", timeout=60, needs=0)
async def block(payload: dict[str, Any], ctx: Context) -> None:
    say("in", ctx)
    time.sleep(600)  # noqa: ASYNC251 (the loop does not turn)


@kind("eat", timeout=60, needs=0, max_attempts=1)
async def eat(payload: dict[str, Any], ctx: Context) -> None:
    """Takes so many megabytes and keeps them."""
    EATEN.append(b"x" * (payload["megabytes"] * 2**20))


@kind("gorge", timeout=60, needs=0, max_attempts=2, backoff=[1])
async def gorge(payload: dict[str, Any]) -> None:
    """Takes memory without end, in pieces of so many bytes."""
    taken = []
    while True:
        taken.append(bytes(payload["bytes"]))


@kind("call", timeout=60, needs=0, breaker=True, backoff=[86400])
async def call(payload: Called, ctx: Context) -> None:
    """Calls somebody who is down, or whose answer a process that may die does not live to see."""
    await write(ctx)
    if payload.get("stop") and ON_TRIAL:
        await stop("calling", ctx)
    if payload.get("down"):
        raise Retry("503 from crm.example", status_code=503)


EATEN: list[bytes] = []


@asynccontextmanager
async def hesitate(ctx: Context) -> AsyncIterator[None]:
    """Around every attempt: claimed, and not begun."""
    await stop("claimed", ctx)
    yield


KINDS = (note, wait, poison, mail, pay, late, block, eat, gorge, call)


def main() -> None:
    from crontick.jobs import bounds
    from crontick.jobs.process import run_tick
    from crontick.jobs.request import TickRequest
    from crontick.jobs.summary import COUNTS
    from tests.faults.world import deployed

    ON_TRIAL.append(True)
    told = msgspec.json.decode(sys.argv[2])
    vars(bounds)["_LEASE_BEYOND_DEADLINE_SECONDS"] = told.pop("lease_beyond_deadline", 15.0)
    summary = asyncio.run(run_tick(deployed(sys.argv[1], **told), TickRequest(trigger="doomed")))
    print("ended", *(f"{name}={getattr(summary, name)}" for name in COUNTS if getattr(summary, name)), flush=True)


if __name__ == "__main__":
    # Run as a module, it would be a second copy of these kinds beside the imported one.
    from tests.faults import doomed

    doomed.main()
