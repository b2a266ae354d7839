"""When a tick asks for others, whom, and for what (P42)."""

import asyncio
import json

from crontick.handler.watch_ticks import WatchTicks
from crontick.jobs import Context, kind
from crontick.jobs.stop import Stop
from tests.fan_out.conftest import TOKEN, World
from tests.worlds.http_receiver import Answer
from tests.worlds.waiting import async_until, until


async def test_a_tick_asks_its_own_url_for_two_others_while_its_first_jobs_run(world: World) -> None:
    @kind("patient")
    async def patient(payload: dict[str, int], ctx: Context) -> None:
        await async_until(lambda: len(world.receiver.requests) == 2)

    await world.enqueue(30, "patient")
    summary = await world.tick(patient, limit=10, budget_seconds=25, queues=("default", "mail"), kinds=("patient",))
    assert (summary.asked, summary.succeeded, summary.more, summary.warnings[1:]) == (2, 10, True, [])
    for request in world.receiver.requests:
        assert (request.method, request.target) == ("POST", "/cron/tick")
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        assert json.loads(request.body) == {
            "limit": 10,
            "budget_seconds": 25.0,
            "queues": ["default", "mail"],
            "kinds": ["patient"],
            "trigger": "fan-out",
            "depth": 1,
        }


async def test_one_is_asked_for_where_one_is_enough_and_none_where_this_tick_is(world: World) -> None:
    await world.enqueue(30)
    assert (await world.tick(limit=20)).asked == 1
    await world.enqueue(10)
    assert (await world.tick(limit=20)).asked == 0
    assert (await world.tick()).asked == 0
    assert await world.unfinished() == 0
    assert len(world.receiver.requests) == 1


async def test_nobody_asks_who_must_not(world: World) -> None:
    await world.enqueue(60)
    assert (await world.tick(limit=5, depth=5)).asked == 0
    assert (await world.tick(limit=5, dry_run=True)).asked == 0
    assert (await world.tick(limit=5, kinds=("send_email",))).asked == 0
    assert (await world.tick(limit=5, queues=("mail",))).asked == 0
    assert (await world.tick(limit=1, jobs=(20, 21, 22))).asked == 0
    for secrets in ((TOKEN,), ()):
        world.settings = {"limit": 5, "cron_secrets": secrets}
        watched = await WatchTicks(world.deployment(), Stop()).tick()
        assert watched is not None
        assert (watched.more, watched.asked) == (True, 0)
        assert not any("no other tick" in warning for warning in watched.warnings)
    world.settings = {"paused": True}
    assert (await world.tick(limit=5)).asked == 0
    world.settings = {"max_parallel_ticks": 1}
    await world.conn.execute("update crontick.tick_slots set taken_until = 'infinity' where slot = 1")
    assert (await world.tick(limit=5)).not_run == "busy"
    await world.conn.execute("select crontick.pause('kind', 'nothing', 'test', 'no reason')")
    world.settings = {}
    assert (await world.tick(limit=5)).asked == 0
    assert world.receiver.requests == []


async def test_a_tick_that_is_too_slow_for_what_is_due_asks_as_soon_as_it_knows(world: World) -> None:
    @kind("slow", needs=0.1)
    async def slow(payload: dict[str, int], ctx: Context) -> None:
        await asyncio.sleep(0.3)  # its work

    world.settings = {"concurrency": 2}
    await world.enqueue(60, "slow")
    summary = await world.tick(slow, budget_seconds=2)
    assert summary.asked == 1
    assert summary.claimed < 60


async def test_an_ask_that_fails_is_a_warning_and_nothing_else(world: World) -> None:
    refusals = [
        (Answer(status=401), "another CRON_SECRET"),
        (Answer(status=404), "[fan_out] url"),
        (Answer(status=500), "answered 500"),
        (Answer(close=True), "broke off"),
    ]
    roomy = {"max_parallel_ticks": 100}
    world.settings = roomy
    for refusal, said in refusals:
        world.receiver.otherwise = refusal
        await world.enqueue(15)
        summary = await world.tick(limit=10)
        assert (summary.asked, summary.claimed, summary.succeeded) == (0, 10, 10), refusal
        assert any(said in warning for warning in summary.warnings), summary.warnings
        await world.tick(limit=1000)
    world.settings = {**roomy, "public_url": "http://127.0.0.1:1"}
    await world.enqueue(15)
    summary = await world.tick(limit=10)
    assert (summary.asked, summary.succeeded) == (0, 10)
    assert any("no connection to 127.0.0.1" in warning for warning in summary.warnings)
    world.settings = {**roomy, "public_url": None}
    await world.enqueue(15)
    assert any("CRONTICK_PUBLIC_URL is not set" in warning for warning in (await world.tick(limit=10)).warnings)
    assert await world.one("select asked from crontick.ticks order by id desc limit 1") == 0  # nor counted


async def test_an_answer_that_comes_when_the_other_tick_has_ended_is_not_waited_for(world: World) -> None:
    world.receiver.otherwise = Answer(hang=True)
    world.settings = {"max_budget_seconds": 600}
    await world.enqueue(30)
    async with asyncio.timeout(60):
        summary = await world.tick(limit=10, budget_seconds=600)
    assert (summary.asked, summary.succeeded, summary.warnings[1:]) == (2, 10, [])
    until(lambda: len(world.receiver.requests) == 2)
