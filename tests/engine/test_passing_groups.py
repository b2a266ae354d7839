"""``on_failure = "pass"``: a job that failed lets its group pass until its next attempt; still one runs at a time."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import msgspec
import pytest

from crontick.jobs import Context, Kind, Retry, Snooze, kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.settings import Settings
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio


def stepping(ran: list[int], **numbers: Any) -> Kind[Any]:
    """Its jobs fail or snooze as their payload says, in their first attempt."""
    inside: set[int] = set()

    @kind("step", on_failure="pass", **numbers)
    async def step(payload: Any, ctx: Context) -> None:
        assert not inside
        inside.add(ctx.job.id)
        await asyncio.sleep(0)
        inside.remove(ctx.job.id)
        ran.append(ctx.job.id)
        if payload == "snooze":
            raise Snooze(60)
        if payload == "fail" and ctx.attempt == 1:
            raise Retry("not yet", after=60)

    return step


async def test_the_followers_of_a_failed_job_run_and_it_comes_back_before_those_behind_it(world: World) -> None:
    ran: list[int] = []
    step = stepping(ran)
    first = await step.enqueue(world.conn, "fail", group_key="g")
    others = await step.enqueue_many(world.conn, ["go"] * 3, group_key="g")
    await world.tick(step)
    assert ran == [first, *others]
    later = await step.enqueue_many(world.conn, ["go"] * 3, group_key="g")
    await world.later(100)
    await world.tick(step)
    assert sorted(ran[4:]) == [first, *later]
    assert await world.status(first, *later) == ["succeeded"] * 4
    assert await world.one("select count(*) from crontick.group_calls") == 0


async def test_several_that_failed_come_back_in_order(world: World) -> None:
    ran: list[int] = []
    step = stepping(ran)
    failing = await step.enqueue_many(world.conn, ["fail"] * 3, group_key="g")
    await world.tick(step)
    await world.later(100)
    await world.tick(step)
    assert ran == failing * 2


async def test_a_job_that_snoozes_does_not_let_its_group_pass(world: World) -> None:
    ran: list[int] = []
    step = stepping(ran)
    first = await step.enqueue(world.conn, "snooze", group_key="g")
    await step.enqueue(world.conn, "go", group_key="g")
    await world.tick(step)
    assert ran == [first]


async def test_a_job_that_runs_on_in_its_thread_keeps_its_group_waiting(world: World) -> None:
    stop = threading.Event()

    @kind("step", on_failure="pass", timeout=0.2, needs=0)
    def stuck(payload: Any) -> None:
        stop.wait(60)

    try:
        first = await stuck.enqueue(world.conn, {}, group_key="g")
        follower = await stuck.enqueue(world.conn, {}, group_key="g")
        await world.tick(stuck)
        assert await world.status(first, follower) == ["failed", "queued"]
    finally:
        stop.set()


async def test_an_attempt_that_is_cancelled_at_its_time_out_lets_its_group_pass(world: World) -> None:
    @kind("step", on_failure="pass", timeout=0.2, needs=0)
    async def slow(payload: Any) -> None:
        if payload == "slow":
            await asyncio.Event().wait()

    first = await slow.enqueue(world.conn, "slow", group_key="g")
    follower = await slow.enqueue(world.conn, "go", group_key="g")
    await world.tick(slow)
    assert await world.status(first, follower) == ["failed", "succeeded"]


async def test_why_says_that_the_group_goes_on(world: World) -> None:
    step = stepping([])
    job = await step.enqueue(world.conn, "fail", group_key="g")
    await world.tick(step)
    said = await world.one("select crontick.why(%s)", job)
    assert said.endswith(f", and lets group g pass until then: `crontick run-now {job}`")


async def test_run_now_puts_it_first_in_line_again(world: World) -> None:
    ran: list[int] = []
    step = stepping(ran)
    first = await step.enqueue(world.conn, "fail", group_key="g")
    await world.tick(step)
    await world.rows("select crontick.run_now(%s, 'ann')", first)
    await world.tick(step)
    assert await world.status(first) == ["succeeded"]


def test_the_operator_may_say_otherwise_than_the_author(tmp_path: Path) -> None:
    path = tmp_path / "crontick.toml"
    path.write_text('[kinds.step]\non_failure = "block"\n')
    step = stepping([])
    loaded = load_deployment(Settings(config_path=path), kinds=[step])
    assert (step.on_failure, loaded.kinds["step"].on_failure) == ("pass", "block")


def test_what_it_says_tells_one_deployment_from_another() -> None:
    step = stepping([])
    other = msgspec.structs.replace(step, on_failure="block")
    assert load_deployment(Settings(), kinds=[step]).hash != load_deployment(Settings(), kinds=[other]).hash


def test_another_word_is_refused() -> None:
    with pytest.raises(ValueError, match="on_failure is block or pass, not 'skip'"):
        kind("step", on_failure="skip")  # type: ignore[arg-type]
