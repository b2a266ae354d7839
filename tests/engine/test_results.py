"""What functions return and raise: what can be stored is, and what cannot harms nobody else."""

import asyncio
import subprocess
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, Retry, kind
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


REFUSED = {
    "64 KiB and a byte": "x" * (65536 - 1),
    "NaN": float("nan"),
    "infinity": float("inf"),
    "NUL": "a\0b",
    "NUL in a key": {"a\0": 1},
    "half a surrogate pair": "\ud800",
    "3,000 nested lists": nested(3000),
    "what is no JSON": object(),
    "itself": nested(0),
}
REFUSED["itself"].append(REFUSED["itself"])


async def test_results_that_cannot_be_stored_fail_their_own_attempts_and_no_other(world: World) -> None:
    @kind("answer")
    async def answer(payload: Any) -> Any:
        return REFUSED.get(payload, payload)

    bad = [await answer.enqueue(world.conn, name) for name in REFUSED]
    good = [await answer.enqueue(world.conn, n) for n in range(5)]
    summary = await world.tick(answer)
    assert (summary.failed, summary.succeeded) == (len(bad), len(good))
    errors = [(await world.job(job))["last_error"] for job in bad]
    assert [("result" in error, len(error) < 4001) for error in errors] == [(True, True)] * len(bad)


@pytest.mark.parametrize("result", [{"a": [1, 2.5, None, True, "ä", "x\\u0000y"]}, "x" * 65534, 0, "", [], False, None])
async def test_results_are_stored_as_they_are(world: World, result: Any) -> None:
    @kind("answer")
    async def answer(payload: Any) -> Any:
        return result

    job = await answer.enqueue(world.conn, {})
    await world.tick(answer)
    told = await world.job(job)
    assert (told["status"], told["result"]) == ("succeeded", result)


class Silent(Exception):
    """It cannot be told."""

    def __str__(self) -> str:
        raise self.args[0] if self.args else OSError("no words")

    __repr__ = None  # type: ignore[assignment]


class Odd(Exception):
    """It is told wrongly."""

    def __repr__(self) -> str:
        return 7  # type: ignore[return-value]


def raise_deep(depth: int = 900) -> None:
    if depth:
        raise_deep(depth - 1)
    raise RecursionError("maximum recursion depth exceeded")


def raise_in_a_circle() -> None:
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__cause__ = second, first
    first.lock = object()  # type: ignore[attr-defined]
    raise first


def raise_group() -> None:
    raise ExceptionGroup("several", [ValueError("a\0"), TypeError("b")])


RAISED: dict[str, Callable[[], None] | BaseException] = {
    "a lone surrogate": Exception("\ud83d lone"),
    "NUL": ValueError("a\0b"),
    "bytes that are no text": Exception(b"\xff\xfe".decode("utf-8", "surrogateescape")),
    "ten megabytes": ValueError("x" * 10_000_000),
    "no text at all": Silent(),
    "a repr that is no text": Odd("odd"),
    "nine hundred frames": raise_deep,
    "a circle of causes": raise_in_a_circle,
    "a group": raise_group,
    "no memory": MemoryError(),
    "an exit": SystemExit(3),
    "a Ctrl-C of its own": KeyboardInterrupt("so it says"),
    "the end of a generator": GeneratorExit("done"),
    "what is no Exception": BaseException("as deep as it goes"),
    "a group of such": BaseExceptionGroup("several", [KeyboardInterrupt(), ValueError("a")]),
    "no text, but a Ctrl-C": Silent(KeyboardInterrupt),
    "a status code that is none": Retry("the true reason", status_code=2**31),
    "a detail that cannot be told": Retry("the true reason", detail=Silent()),  # type: ignore[arg-type]
    "the end of an iterator": StopIteration("done"),
    "a process that failed": subprocess.CalledProcessError(1, ["convert"], b"\xff\0"),
    "a broken transaction": psycopg.errors.InFailedSqlTransaction("current transaction is aborted"),
}


@pytest.mark.parametrize("in_a_thread", [False, True])
async def test_whatever_is_raised_is_a_failed_attempt_with_a_storable_text(world: World, in_a_thread: bool) -> None:  # noqa: FBT001
    def fail(payload: Any) -> None:
        if payload == "nothing":
            return
        raised = RAISED[payload]
        if isinstance(raised, BaseException):
            raise raised
        raised()

    async def fail_async(payload: Any) -> None:
        fail(payload)

    of = kind("fail")(fail if in_a_thread else fail_async)
    bad = [await of.enqueue(world.conn, name) for name in RAISED]
    good = await of.enqueue(world.conn, "nothing")
    summary = await world.tick(of, verbose=True)
    assert (summary.failed, summary.succeeded, await world.status(good)) == (len(bad), 1, ["succeeded"])
    assert await world.status(*bad) == ["failed"] * len(bad)
    errors = [(await world.job(job))["last_error"] for job in bad]
    assert all(0 < len(error) <= 4000 for error in errors)
    assert [error for error in errors if "did not end" in error or "could not be stored" in error] == []
    assert summary.retire is False
    assert await world.one("select count(*) from crontick.attempts where outcome = 'failed' and error <> ''") == len(
        bad
    )


@pytest.mark.parametrize("raised", [GeneratorExit, BaseException])
async def test_what_a_future_raises_is_the_attempt_s_own(world: World, raised: type[BaseException]) -> None:
    def stop() -> None:
        raise raised("from afar")

    @kind("ask")
    async def ask(payload: Any) -> None:
        await asyncio.to_thread(stop)

    job = await ask.enqueue(world.conn, {})
    assert (await world.tick(ask)).failed == 1
    assert (await world.job(job))["last_error"] == f"{raised.__name__}: from afar"


async def test_an_error_s_head_and_tail_are_kept_and_it_is_the_summary_that_says_least(world: World) -> None:
    @kind("fail")
    async def fail(payload: Any) -> None:
        raise ValueError("head" + "x" * 10_000 + "tail of jane@example.org")

    job = await fail.enqueue(world.conn, {})
    summary = await world.tick(fail)
    error = (await world.job(job))["last_error"]
    assert error.startswith("ValueError: head")
    assert error.endswith("tail of jane@example.org")
    assert [(trouble.job, trouble.error) for trouble in summary.errors] == [(job, "ValueError")]


async def test_a_function_s_own_broken_transaction_does_not_break_the_record_of_it(world: World) -> None:
    @kind("fail")
    async def fail(payload: Any, ctx: Any) -> None:
        async with ctx.db() as conn, conn.transaction():
            await conn.execute("select 1 / 0 as secret_row")

    @kind("next")
    async def after(payload: Any, ctx: Any) -> None:
        async with ctx.db() as conn:
            await conn.execute("select 1")

    job, other = await fail.enqueue(world.conn, {}), await after.enqueue(world.conn, {}, priority=-1)
    world.settings = {"db_connections": 1}
    await world.tick(fail, after)
    assert await world.status(job, other) == ["failed", "succeeded"]
    assert "division by zero" in (await world.job(job))["last_error"]


async def test_three_bad_ones_of_ten_take_nothing_back_of_what_the_others_did(world: World) -> None:
    done: list[int] = []

    @kind("nth", backoff=[60])
    async def nth(payload: int, ctx: Context) -> None:
        if payload == 5:
            raise ValueError("no")
        async with ctx.db() as conn:
            if payload == 7:
                await conn.execute("select pg_terminate_backend(pg_backend_pid())")
            if payload == 9:
                await conn.execute("update crontick.unfinished_jobs set priority = 1000 where id = %s", (ctx.job.id,))
        done.append(payload)

    jobs = [await nth.enqueue(world.conn, number) for number in range(1, 11)]
    summary = await world.tick(nth)
    assert (summary.succeeded, summary.failed, summary.lost) == (7, 3, 0)
    assert (await world.tick(nth)).claimed == 0
    await world.later(90)
    assert (await world.tick(nth)).claimed == 3
    assert sorted(done) == [1, 2, 3, 4, 6, 8, 10]
    assert await world.status(*jobs) == ["failed" if number in (5, 7, 9) else "succeeded" for number in range(1, 11)]
