"""A process that was frozen (SIGSTOP) past its lease: its outcomes are fenced, and it can send nothing more."""

import pytest

from tests.faults import doomed
from tests.faults.world import World
from tests.worlds.process import Child
from tests.worlds.waiting import async_until


@pytest.fixture
async def frozen(world: World) -> tuple[Child, int]:
    """A process that stands still in a function, with a lease that has run out on every clock; and its job."""
    world.settings = {"budget_seconds": 1, "max_budget_seconds": 1}
    job = await world.enqueue(doomed.late)
    child = world.doomed(lease_beyond_deadline=0.05)
    assert child.line() == f"in {job}"
    child.freeze()
    await async_until(lambda: world.value("select lease_expires_at < crontick.now() from crontick.claims"))
    return child, job


def thawed(child: Child) -> list[str]:
    """What it says on its way to the end."""
    child.process.send_signal(doomed.GO_ON)
    child.thaw()
    said = [child.line() for _ in range(6)]
    assert child.wait() == 0
    return said


async def test_no_send_starts_after_the_lease(frozen: tuple[Child, int]) -> None:
    child, job = frozen
    doors = ("once", "http", "db", "complete", "enqueue")
    assert thawed(child)[:5] == [f"{door} is shut {job}" for door in doors]


async def test_the_outcome_of_a_tick_that_slept_past_its_lease_is_lost(world: World, frozen: tuple[Child, int]) -> None:
    child, job = frozen
    assert (await world.tick(kinds=("note",))).rescued == 1
    assert thawed(child)[5] == "ended claimed=1 lost=1"
    assert await world.status(job) == "queued"
    assert await world.outcomes(job) == ["rescued"]


async def test_a_tick_that_nobody_rescued_from_still_settles(world: World, frozen: tuple[Child, int]) -> None:
    child, job = frozen
    assert thawed(child)[5] == "ended claimed=1 succeeded=1"
    assert await world.status(job) == "succeeded"


async def test_two_holders_of_one_job_the_stale_one_changes_nothing(world: World, frozen: tuple[Child, int]) -> None:
    child, job = frozen
    world.settings = {}
    await world.tick(kinds=("note",))
    second = world.doomed()
    assert second.line() == f"in {job}"
    claim = await world.value("select claim from crontick.unfinished_jobs")
    assert thawed(child)[5] == "ended claimed=1 lost=1"
    assert await world.rows("select claim, status, attempt from crontick.unfinished_jobs") == [(claim, "running", 2)]
