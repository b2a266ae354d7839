"""The answer to a trip is lost: the tick reconnects and repeats it, and nothing is stranded or happens twice (P1)."""

import asyncio
import logging
from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, Permanent, Snooze, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.summary import Summary
from crontick.jobs.unavailable import Unavailable
from tests.faults import doomed
from tests.faults.world import World, deployed
from tests.worlds.proxy import Proxy


async def whole(world: World, summary: Summary, jobs: int) -> None:
    """Each job ran once and is told of once, in the summary and in the tick's row."""
    assert (summary.claimed, summary.succeeded, summary.lost) == (jobs, jobs, 0)
    assert await world.rows("select claimed, succeeded, lost from crontick.ticks") == [(jobs, jobs, 0)]
    assert await world.rows("select count(*), count(distinct job) from ran") == [(jobs, jobs)]
    assert await world.value("select count(*) from crontick.unfinished_jobs") == 0
    assert await world.value("select count(*) from crontick.claims") == 0


async def test_the_answer_to_the_opening_is_lost(world: World, proxy: Proxy) -> None:
    await doomed.note.enqueue_many(world.conn, [{}] * 10)
    proxy.lose_next_answer = True
    await whole(world, await world.tick(proxy.url), 10)
    assert not proxy.lose_next_answer


async def test_the_answer_to_an_opening_with_markers_is_lost(world: World, proxy: Proxy) -> None:
    await doomed.mail.enqueue_many(world.conn, [{"key": str(n)} for n in range(10)])
    proxy.lose_next_answer = True
    await whole(world, await world.tick(proxy.url), 10)


async def test_the_answer_to_an_idle_opening_is_lost(world: World, proxy: Proxy) -> None:
    await world.tick()
    proxy.lose_next_answer = True
    assert (await world.tick(proxy.url)).ran
    assert await world.value("select count(*) from crontick.ticks where ended_at is not null") == 2


@pytest.mark.parametrize("fate", ["succeeded", "failed", "snoozed", "dead"])
async def test_the_answer_to_a_settle_is_lost(world: World, proxy: Proxy, fate: str) -> None:
    @kind("told", timeout=60, needs=0)
    async def told(payload: dict[str, Any], ctx: Context) -> None:
        proxy.lose_next_answer = True
        match payload["fate"]:
            case "failed":
                raise OSError("once")
            case "snoozed":
                raise Snooze(60)
            case "dead":
                raise Permanent("no")

    job = await world.enqueue(told, {"fate": fate})
    summary = await run_tick(deployed(proxy.url, [told]), TickRequest())
    assert not proxy.lose_next_answer
    assert (getattr(summary, fate), summary.lost) == (1, 0)
    assert await world.value(f"select {fate} from crontick.ticks") == 1
    assert await world.status(job) == ("queued" if fate == "snoozed" else fate)
    assert len(await world.outcomes(job)) == (fate in ("failed", "dead"))


async def test_the_answer_to_the_note_of_what_is_to_be_sent_is_lost(world: World, proxy: Proxy) -> None:
    sent: list[str] = []

    @kind("pay", marker="key", window=86_400, timeout=60, needs=0)
    async def pay(payload: dict[str, Any], ctx: Context) -> None:
        proxy.lose_next_answer = True
        async with ctx.once(content=b"1") as mark:
            sent.append(mark.idempotency_key)

    job = await world.enqueue(pay, {"key": "order 7"})
    summary = await run_tick(deployed(proxy.url, [pay]), TickRequest())
    assert not proxy.lose_next_answer
    assert (summary.succeeded, len(sent), await world.status(job)) == (1, 1, "succeeded")
    assert await world.rows("select state, content_hash is not null from crontick.markers") == [("sent", True)]


@pytest.mark.parametrize(("end", "fate"), [("commit", "succeeded"), ("roll back", "failed")])
async def test_the_answer_to_a_settle_after_complete_is_lost(world: World, proxy: Proxy, end: str, fate: str) -> None:
    @kind("pay", timeout=60, needs=0)
    async def pay(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.db() as conn, conn.transaction():
            await ctx.complete(conn)
            if end == "roll back":
                raise psycopg.Rollback
        proxy.lose_next_answer = True

    job = await world.enqueue(pay)
    summary = await run_tick(deployed(proxy.url, [pay]), TickRequest())
    assert not proxy.lose_next_answer
    assert (summary.succeeded, summary.failed, summary.lost) == (fate == "succeeded", fate == "failed", 0)
    assert await world.rows("select succeeded, failed from crontick.ticks") == [(fate == "succeeded", fate == "failed")]
    assert await world.status(job) == fate


async def test_the_answer_to_a_settle_and_claim_is_lost(world: World, proxy: Proxy) -> None:
    """The one exchange settles some and claims others: both halves are recognised."""

    @kind("chain", timeout=60, needs=0)
    async def chain(payload: dict[str, Any], ctx: Context) -> None:
        # Not through the proxy, which must lose the answer to the tick.
        await world.conn.execute("insert into ran (job, attempt) values (%s, %s)", (ctx.job.id, ctx.attempt))
        if payload["nth"] == 3:
            proxy.lose_next_answer = True

    await chain.enqueue_many(world.conn, [{"nth": n} for n in range(10)])
    summary = await run_tick(deployed(proxy.url, [chain], concurrency=2), TickRequest())
    await whole(world, summary, 10)


async def test_a_kept_connection_that_died_costs_one_reconnect(world: World, proxy: Proxy) -> None:
    world.settings = {"keep_connection_seconds": 60}
    await world.tick(proxy.url)
    await world.tick(proxy.url)
    connected = proxy.connections
    proxy.reset()
    await world.enqueue(doomed.note)
    summary = await world.tick(proxy.url)
    assert (summary.succeeded, summary.lost) == (1, 0)
    assert proxy.connections == connected + 2  # the tick's, and the one that the function borrows
    await world.tick(proxy.url)
    assert proxy.connections == connected + 2


async def test_a_black_hole_in_mid_tick_ends_the_tick_in_time(
    world: World, proxy: Proxy, caplog: pytest.LogCaptureFixture
) -> None:
    world.settings = {"budget_seconds": 1, "max_budget_seconds": 1}

    @kind("swallowed", marker="key", timeout=60, needs=0)
    async def swallowed(payload: dict[str, str], ctx: Context) -> None:
        async with ctx.once() as mark:
            proxy.black_hole = True
            mark.provider, mark.message_id = "smtp", "<7@here>"

    job = await world.enqueue(swallowed, {"key": "order 7"})
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(Unavailable, match="out of reach"), caplog.at_level(logging.ERROR, "crontick.tick"):
        await run_tick(deployed(proxy.url, [swallowed], **world.settings), TickRequest())
    assert loop.time() - began < 2
    assert caplog.messages == [
        f"sent, not recorded: job {job}, kind swallowed, key order 7, provider smtp, message id <7@here>"
    ]
    await world.later("1 hour")
    assert (await world.tick()).rescued == 1
    assert await world.value("select state from crontick.markers") == "in_doubt"
