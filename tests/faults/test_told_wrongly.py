"""What a function tells wrongly of children, markers and progress costs its own job something, and no other (P2)."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from crontick.jobs import Context, kind
from crontick.jobs.outcomes import Mark
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.faults import doomed
from tests.faults.world import World, deployed

NEIGHBOURS: Final = 4


@kind("odd", timeout=60, needs=0)
async def odd(payload: Any, ctx: Context) -> None:
    await doomed.write(ctx)


async def beside(world: World, function: Any, **settings: Any) -> tuple[Any, int]:
    """The summary of a tick in which this function ran beside others, all of which succeeded; and its job."""
    bad = kind("bad", max_attempts=3, timeout=20, needs=0)(function)
    others = await odd.enqueue_many(world.conn, [{}] * NEIGHBOURS)
    job = int(await bad.enqueue(world.conn, {}, priority=1))
    summary = await run_tick(deployed(world.url, [odd, bad], **settings), TickRequest(kinds=("odd", "bad")))
    assert [await world.status(other) for other in others] == ["succeeded"] * NEIGHBOURS
    assert await world.value("select count(*) from ran where job = any(%s)", others) == NEIGHBOURS
    return summary, job


REFUSED_CHILDREN: list[tuple[dict[str, Any], str]] = [
    ({"group_key": "\ud800"}, "group_key"),
    ({"group_key": ""}, "group_key"),
    ({"unique_key": "caf\udce9"}, "unique_key"),
    ({"unique_key": "a\0b"}, "unique_key"),
    ({"unique_key": "x" * 8193}, "unique_key"),
    ({"queue": "\ud800"}, "queue"),
    ({"queue": "Bad Queue"}, "queue"),
    ({"priority": 10**12}, "priority"),
    ({"max_attempts": 0}, "max_attempts"),
    ({"run_at": float("nan")}, "run_at"),
    ({"run_at": float("inf")}, "run_at"),
    ({"run_at": 1e18}, "run_at"),
    ({"run_at": datetime(1999, 12, 31, tzinfo=UTC)}, "run_at"),
    ({"expires_at": datetime(2001, 1, 1, tzinfo=UTC)}, "expires_at"),
    ({"unique_key": "x", "unique_for": timedelta(0)}, "unique_for"),
    ({"unique_key": "x", "unique_for": "\ud800"}, "unique_for"),
]


@pytest.mark.parametrize(("options", "named"), REFUSED_CHILDREN)
async def test_a_child_that_cannot_be_is_refused_to_who_names_it(
    world: World, options: dict[str, Any], named: str
) -> None:
    async def parent(payload: Any, ctx: Context) -> None:
        with pytest.raises(ValueError, match=named):
            ctx.enqueue(odd, {"nth": 1}, **options)
        ctx.enqueue(odd, {"nth": 2}, run_at=60)

    _, job = await beside(world, parent)
    assert await world.status(job) == "succeeded"
    assert await world.rows("select payload -> 'nth' from crontick.unfinished_jobs") == [(2,)]


async def test_a_child_that_the_database_refuses_is_told_and_its_siblings_are_kept(world: World) -> None:
    async def parent(payload: Any, ctx: Context) -> dict[str, int]:
        ctx.enqueue(odd, {"nth": 1}, run_at=60)
        ctx.enqueue(odd, {}, unique_key="x", unique_for="garbage")
        ctx.enqueue(odd, {}, unique_key="y", unique_for="nonsense")
        ctx.enqueue(odd, {"nth": 4}, run_at=60)
        return {"kept": 2}

    summary, job = await beside(world, parent)
    assert [(t.job, t.error) for t in summary.errors] == [(job, "2 of its 4 children were refused: its note says why")]
    assert await world.rows("select payload -> 'nth' from crontick.unfinished_jobs order by id") == [(1,), (4,)]
    [(status, result, note)] = await world.rows(
        "select status, result, last_error from crontick.jobs where id = %s", job
    )
    assert (status, result) == ("succeeded", {"kept": 2})
    assert note.startswith("2 of its children refused (the first: unique_for 'garbage'")


@pytest.mark.parametrize("message_id", ["\ud800", "id\0x", 12345, object(), "x" * 100_000])
async def test_that_something_was_sent_is_written_whatever_its_provider_calls_it(world: World, message_id: Any) -> None:
    async def send(payload: Any, ctx: Context) -> None:
        async with ctx.once("k") as mark:
            mark.provider, mark.message_id = "post", message_id
            mark.details = {"of": message_id}

    _, job = await beside(world, send)
    assert await world.status(job) == "succeeded"
    [(state, told)] = await world.rows("select state, provider_message_id from crontick.markers")
    assert (state, bool(told), len(told) <= 1000) == ("sent", True, True)


@pytest.mark.parametrize("key", ["a\0b", "\ud800"])
async def test_a_marker_that_cannot_be_is_refused_to_who_asks_for_it(world: World, key: str) -> None:
    async def send(payload: Any, ctx: Context) -> None:
        async with ctx.once(key):
            pytest.fail("it is entered")

    async def other(payload: Any, ctx: Context) -> None:
        async with ctx.once("good"):
            pass

    good = kind("good", timeout=20, needs=0)(other)
    beside_it = kind("bad", timeout=20, needs=0)(send)
    jobs = [await each.enqueue(world.conn, {}) for each in (beside_it, good)]
    await run_tick(deployed(world.url, [good, beside_it]), TickRequest())
    assert [await world.status(job) for job in jobs] == ["failed", "succeeded"]
    assert "PostgreSQL stores no NUL" in await world.value("select error from crontick.attempts")


@pytest.mark.parametrize("far", [10**30, 2**63, -(2**63) - 1])
async def test_progress_beyond_all_numbers_is_refused_to_who_tells_it(world: World, far: int) -> None:
    async def run(payload: Any, ctx: Context) -> None:
        for told in ((far, None), (1, far)):
            with pytest.raises(ValueError, match="progress takes whole numbers"):
                ctx.progress(*told)
        ctx.progress(2**63 - 1, 2**63 - 1)
        await ctx.supplies.not_wanted(ctx.job)

    _, job = await beside(world, run)
    assert await world.value("select progress_done from crontick.jobs where id = %s", job) == 2**63 - 1


async def test_progress_that_is_refused_costs_no_other_its_outcome(world: World) -> None:
    """Of an attempt that runs on while its neighbours are settled."""

    async def run(payload: Any, ctx: Context) -> None:
        ctx.progress_made = (10**30, None)
        written = "select count(*) = %s from crontick.finished_jobs"
        deadline = asyncio.get_running_loop().time() + 30
        while not await world.value(written, NEIGHBOURS):
            assert asyncio.get_running_loop().time() < deadline

    _, job = await beside(world, run)
    assert await world.status(job) == "succeeded"


async def test_an_ending_that_cannot_be_encoded_is_bare_alone(world: World) -> None:
    """Nothing that a function may say gets so far: this one reaches behind the doors."""

    async def send(payload: Any, ctx: Context) -> int:
        async with ctx.once("k"):
            pass
        ctx.marks["k"] = Mark("bad", "k", "sent", "post", "\ud800")
        ctx.enqueue(odd, {}, run_at=60)
        return 7

    _, job = await beside(world, send)
    told = "select status, result, last_error from crontick.jobs where id = %s"
    assert await world.rows(told, job) == [("succeeded", None, "what it said could not be stored (UnicodeEncodeError)")]
    assert await world.rows("select state, provider_message_id from crontick.markers") == [("sent", "\ufffd")]
    assert await world.value("select count(*) from crontick.unfinished_jobs") == 1
