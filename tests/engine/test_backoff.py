"""Failed attempts: how long a job waits, and when it has died."""

from typing import Any

import pytest

from crontick.jobs import Exponential, Retry, kind
from crontick.jobs.backoff import delay_seconds, normal
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio
MINUTE = 60


def boom(payload: Any) -> None:
    raise ValueError("no")


async def waits(world: World, of: Any) -> list[float]:
    """The delays until death, each rounded down to the step that jitter was added to."""
    job = await of.enqueue(world.conn, {})
    steps: list[float] = []
    while True:
        await world.tick(of)
        if (await world.job(job))["status"] == "dead":
            return steps
        steps.append(await world.delay(job))
        await world.later(steps[-1] + 1)


def assert_steps(measured: list[float], steps: list[int]) -> None:
    """Jitter only ever adds: up to 10 %, a minute at most (and a tick takes a moment)."""
    assert len(measured) == len(steps)
    assert all(
        step - 5 < seconds <= step + min(step * 0.1, MINUTE) for step, seconds in zip(steps, measured, strict=True)
    )


async def test_a_kind_that_says_nothing_is_tried_five_times(world: World) -> None:
    assert_steps(await waits(world, kind("boom")(boom)), [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE])


async def test_four_attempts_are_one_five_and_thirty_minutes_and_then_dead(world: World) -> None:
    assert_steps(await waits(world, kind("boom", max_attempts=4)(boom)), [MINUTE, 5 * MINUTE, 30 * MINUTE])
    [job] = await world.rows("select status, attempt, last_error from crontick.jobs")
    assert job == ("dead", 4, "ValueError: no")
    assert await world.one("select array_agg(outcome order by number) from crontick.attempts") == ["failed"] * 3 + [
        "dead"
    ]


async def test_the_last_delay_is_repeated(world: World) -> None:
    assert_steps(await waits(world, kind("boom", max_attempts=4, backoff=[10, 20])(boom)), [10, 20, 20])


async def test_a_job_s_own_number_of_attempts_comes_first(world: World) -> None:
    of = kind("boom", max_attempts=4)(boom)
    job = await of.enqueue(world.conn, {}, max_attempts=1)
    await world.tick(of)
    assert await world.status(job) == ["dead"]


async def test_a_retry_names_its_own_delay_and_uses_an_attempt(world: World) -> None:
    @kind("later")
    async def later(payload: Any) -> None:
        raise Retry("rate limit", after=1234, status_code=429)

    job = await later.enqueue(world.conn, {})
    await world.tick(later)
    told = await world.job(job)
    assert (told["status"], told["attempt"], told["last_status_code"]) == ("failed", 1, 429)
    assert 1230 < await world.delay(job) <= 1234


def test_jitter_only_ever_adds() -> None:
    assert all(100 <= delay_seconds(normal([100]), 1) <= 110 for _ in range(200))
    assert all(7200 <= delay_seconds(normal(None), 4) <= 7260 for _ in range(200))


@pytest.mark.parametrize("attempt", [0, 1, 40, 99, 10**6])
@pytest.mark.parametrize(
    "backoff", [Exponential(), Exponential(1, 10, 3600), Exponential(1e300, 1e300, 1e308), normal([0])]
)
def test_no_attempt_overflows(backoff: Any, attempt: int) -> None:
    assert 1 <= delay_seconds(backoff, attempt) <= 30 * 86400 + 60


async def test_attempt_ninety_nine_is_followed_by_the_hundredth_and_then_death(world: World) -> None:
    of = kind("boom", max_attempts=100, backoff=Exponential(base=60, factor=2, cap=86400))(boom)
    job = await of.enqueue(world.conn, {})
    await world.rows("update crontick.unfinished_jobs set attempt = 98, status = 'failed'")
    await world.tick(of)
    assert 86400 - 5 < await world.delay(job) <= 86400 + MINUTE
    await world.later(2 * 86400)
    await world.tick(of)
    assert await world.status(job) == ["dead"]
