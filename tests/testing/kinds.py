"""Kinds as a user writes them, for the tests of what tests them."""

import asyncio
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pydantic

from crontick.jobs import Cancel, Context, Permanent, Retry, Snooze, kind


@dataclass(frozen=True)
class Number:
    """What most of them take."""

    value: int = 0


class Price(pydantic.BaseModel):
    """A payload of another sort."""

    cents: int


@kind("double")
async def double(payload: Number) -> int:
    return payload.value * 2


@kind("double_in_thread")
def double_in_thread(payload: Number) -> dict[str, Any]:
    return {"thread": threading.get_ident(), "value": payload.value * 2}


@kind("steer", max_attempts=2, backoff=[60])
async def steer(payload: str) -> None:
    signals: dict[str, Exception] = {
        "permanent": Permanent("never"),
        "retry": Retry("later", after=30),
        "snooze": Snooze(timedelta(hours=1)),
        "cancel": Cancel("not wanted"),
        "error": ValueError("a bug"),
    }
    raise signals[payload]


@kind("write")
async def write(payload: Number, ctx: Context) -> None:
    async with ctx.db() as conn, conn.transaction():
        await conn.execute("insert into written (value) values (%s)", (payload.value,))


@kind("write_in_thread")
def write_in_thread(payload: Number, ctx: Context) -> None:
    with ctx.db() as conn:
        conn.execute("insert into written (value) values (%s)", (payload.value,))


@kind("sleep", timeout=0.1)
async def sleep(payload: Number) -> None:
    await asyncio.Event().wait()


@kind("echo")
async def echo(payload: str) -> str:
    return payload


@kind("parent")
async def parent(payload: Number, ctx: Context) -> None:
    ctx.enqueue(double, payload)


@kind("once")
async def once(payload: Number, ctx: Context) -> str:
    async with ctx.once(f"key {payload.value}") as mark:
        return "again" if mark.sent else "first"


@kind("once_in_thread")
def once_in_thread(payload: Number, ctx: Context) -> str:
    with ctx.once(f"key {payload.value}") as mark:
        return "again" if mark.sent else "first"


@kind("complete")
async def complete(payload: Number, ctx: Context) -> None:
    async with ctx.db() as conn, conn.transaction():
        await conn.execute("insert into written (value) values (%s)", (payload.value,))
        await ctx.complete(conn, {"value": payload.value})


@kind("grouped")
async def grouped(payload: Price) -> None:
    pass
