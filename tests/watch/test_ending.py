"""A watcher is told to end at every moment, and killed: nothing is lost, and nothing is run twice."""

import signal

import pytest

from tests.faults import doomed
from tests.faults.world import World
from tests.watch import kinds
from tests.watch.conftest import Watchers, said, watched
from tests.worlds.process import Child
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until

CLAIM, SETTLE, CLOSE = (
    ("update on crontick.unfinished_jobs", "when (new.status = 'running')"),
    ("insert on crontick.finished_jobs", ""),
    ("update on crontick.ticks", "when (new.ended_at is not null)"),
)


async def began(world: World, watchers: Watchers, job: int, *arguments: str) -> Child:
    """A watcher that is in the function of that job."""
    child = watchers.start(*arguments)
    assert child.line() == f"in {job}"
    return child


async def test_before_it_is_connected(world: World, watchers: Watchers, proxy: Proxy) -> None:
    job = await world.enqueue(kinds.note)
    proxy.black_hole = True
    child = watchers.start("--grace", "2s", url=proxy.url)
    await async_until(lambda: proxy.connections >= 2)
    child.terminate()
    assert child.wait() == 1
    said(child, "the grace period is over")
    assert await world.rows("select status, attempt from crontick.jobs where id = %s", job) == [("queued", 0)]


@pytest.mark.parametrize(("event", "only_when"), [CLAIM, SETTLE, CLOSE], ids=["claim", "settle", "close"])
async def test_in_the_middle_of_a_trip(world: World, event: str, only_when: str) -> None:
    job = await world.enqueue(kinds.note)
    await world.hold(event, only_when)
    async with watched(world.url) as watcher:
        await world.session_in_it()
        watcher.stop.ask(cut_in_seconds=20)
        await world.go_on()
    assert await world.status(job) == "succeeded"
    assert await world.rows("select job from ran") == [(job,)]
    assert await world.rows("select id from crontick.ticks where ended_at is null") == []


async def test_in_a_function_that_ends_in_time_and_a_second_signal_changes_nothing(
    world: World, watchers: Watchers
) -> None:
    job = await world.enqueue(kinds.wait)
    child = await began(world, watchers, job)
    child.terminate()
    said(child, "asked to end")
    child.process.send_signal(signal.SIGINT)
    later = await world.enqueue(kinds.note)
    child.process.send_signal(doomed.GO_ON)
    assert child.line() == f"out {job}"
    assert child.wait() == 0
    assert [await world.status(job), await world.status(later)] == ["succeeded", "queued"]


async def test_in_functions_that_do_not_end_in_time_they_are_handed_back(world: World, watchers: Watchers) -> None:
    job = await world.enqueue(kinds.wait)
    child = await began(world, watchers, job, "--grace", "2s")
    child.terminate()
    assert child.wait() == 0
    told = "select status, attempt, last_error from crontick.jobs where id = %s"
    assert await world.rows(told, job) == [("queued", 0, None)]
    assert await world.rows("select handed_back, stop_reason from crontick.ticks where claimed > 0") == [
        (1, "shutdown")
    ]
    again = await began(world, watchers, job)
    again.process.send_signal(doomed.GO_ON)
    await async_until(lambda: _succeeded(world, job))


async def test_in_a_thread_that_does_not_end_in_time_its_job_waits_for_the_lease(
    world: World, watchers: Watchers
) -> None:
    job = await world.enqueue(kinds.wait_in_thread)
    child = await began(world, watchers, job, "--grace", "2s")
    [(lease,)] = await world.rows("select lease_expires_at from crontick.claims")
    child.terminate()
    assert child.wait() == 1
    said(child, "cannot be stopped")
    told = "select status, attempt, run_at >= %s - interval '1 second' from crontick.jobs where id = %s"
    assert await world.rows(told, lease, job) == [("queued", 0, True)]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
async def test_a_third_signal_and_a_kill_end_it_at_once_and_what_ran_is_rescued(
    world: World, watchers: Watchers, how: signal.Signals
) -> None:
    job = await world.enqueue(kinds.wait)
    child = await began(world, watchers, job)
    if how == signal.SIGTERM:
        child.terminate()
        said(child, "asked to end")
        child.process.send_signal(signal.SIGINT)
    child.process.send_signal(how)
    assert child.wait() == -how
    await world.later("1 hour")
    assert (await world.tick(kinds=("note",))).rescued == 1
    assert await world.rows("select status, attempt from crontick.jobs where id = %s", job) == [("queued", 1)]
    assert await world.rows("select outcome from crontick.attempts where job = %s", job) == [("rescued",)]


async def test_a_thread_past_its_timeout_ends_the_process_after_the_tick(world: World, watchers: Watchers) -> None:
    job = await world.enqueue(kinds.overstays)
    child = await began(world, watchers, job)
    assert child.wait() == 1
    said(child, "cannot be stopped")
    assert await world.status(job) == "failed"
    assert await world.rows("select id from crontick.ticks where ended_at is null") == []


FULL = """
import re, resource, sys
from pathlib import Path
import crontick.jobs.process
from crontick.handler.cli.run import run
pages = int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 2**28,) * 2)
sys.exit(run(sys.argv[1:]))
"""


async def test_a_process_whose_memory_is_nearly_full_ends_for_another_one(world: World, watchers: Watchers) -> None:
    eaten = [await world.enqueue(kinds.eat, {"megabytes": 12}) for _ in range(20)]
    child = watchers.start(script=FULL, CRONTICK_CONCURRENCY="1")
    assert child.wait() == 1
    said(child, "memory is nearly full")
    states = [await world.status(job) for job in eaten]
    assert states[0] == "succeeded"
    assert "running" not in states


async def _succeeded(world: World, job: int) -> bool:
    return await world.status(job) == "succeeded"
