"""Rescue: a death is evidence against a job only if it ran alone (P5)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.faults import doomed
from tests.faults.test_kills import killed_at
from tests.faults.world import World
from tests.worlds.waiting import async_until

NEIGHBOURS = 19


async def died(world: World, **settings: Any) -> None:
    """One tick in another process, to its death by poison; then the leases end."""
    assert world.doomed(**settings).wait() == 137
    await world.later("2 minutes")


async def test_a_job_that_died_beside_others_is_suspect_and_then_runs_alone(world: World) -> None:
    job = await world.enqueue(doomed.wait)
    await world.enqueue(doomed.wait)
    await killed_at(world, "in")
    await world.later("1 hour")
    await world.tick(kinds=("mail",))
    assert await world.value("select array_agg(held_by) from crontick.unfinished_jobs") == ["suspect", "suspect"]
    note = await world.enqueue(doomed.note)
    child = world.doomed()
    assert child.line() == f"in {job}"
    # What else was due has ended before it began, and it is the only one that runs.
    assert await world.status(note) == "succeeded"
    assert await world.value("select count(*) from crontick.unfinished_jobs where status = 'running'") == 1
    late = await world.enqueue(doomed.note)
    assert await world.value("select alone from crontick.claims")
    child.process.send_signal(doomed.GO_ON)
    assert child.line() == f"out {job}"
    await async_until(lambda: _status_is(world, late, "succeeded"))


async def _status_is(world: World, job: int, status: str) -> bool:
    return await world.status(job) == status


async def test_poison_among_nineteen_costs_no_neighbour_its_life(world: World) -> None:
    poison = await world.enqueue(doomed.poison)
    for _ in range(NEIGHBOURS):
        await world.enqueue(doomed.note)
    await died(world)
    # Each was beside it, so that nothing is known of any: suspects run one after another, twenty a tick.
    for _ in range(4):
        if world.doomed().wait() == 0:
            break
        await world.later("2 minutes")
    await world.later("2 minutes")
    await world.tick()
    assert await world.status(poison) == "dead"
    assert await world.outcomes(poison) == ["rescued"] * 3
    [[succeeded, others]] = await world.rows(
        "select count(*) filter (where status = 'succeeded'), count(*) filter (where status <> 'succeeded')"
        " from crontick.jobs where kind = 'note'"
    )
    assert (succeeded, others) == (NEIGHBOURS, 0)


async def test_poison_alone_is_dead_after_two_deaths(world: World) -> None:
    job = await world.enqueue(doomed.poison)
    await died(world)
    await died(world)
    await world.tick()
    assert await world.status(job) == "dead"
    assert await world.value("select last_error from crontick.jobs") == (
        "the process died under it, twice while it ran alone"
    )


@pytest.mark.parametrize("ending", ["dead", "cancelled", "expired"])
async def test_a_job_whose_end_is_refused_fails_no_opening_and_is_left_to_a_person(world: World, ending: str) -> None:
    """Its id stands among the finished jobs already, as after a partial restore."""
    expiring = {"expires_at": datetime.now(UTC) + timedelta(minutes=1)} if ending == "expired" else {}
    job = await world.enqueue(doomed.poison, **expiring)
    await world.conn.execute("update crontick.unfinished_jobs set lone_rescues = 1")
    await world.conn.execute(
        "insert into crontick.finished_jobs"
        " (id, run_at, created_at, finished_at, priority, attempt, kind, queue, status, payload)"
        " values (%s, now(), now(), now(), 0, 1, 'note', 'default', 'succeeded', '{}')",
        (job,),
    )
    if ending == "cancelled":
        await world.conn.execute("insert into crontick.cancel_requests values (%s, now(), 'me')", (job,))
    if ending == "expired":
        await world.later("2 minutes")
    else:
        await died(world)
    for _ in range(2):
        note = await world.enqueue(doomed.note)
        summary = await world.tick()
        assert (await world.status(note), summary.more, summary.next_due_at) == ("succeeded", False, None)
    assert await world.rows("select status, held_by, attempt from crontick.unfinished_jobs") == [
        ("queued", "suspect", 0 if ending == "expired" else 1)
    ]
    assert "SQLSTATE 23505" in await world.value("select crontick.why(%s)", job)
    await world.conn.execute("delete from crontick.finished_jobs where id = %s", (job,))
    assert await world.value("select crontick.cancel(%s, 'me')", job) == "cancelled"


async def test_a_job_whose_end_is_refused_keeps_no_neighbour_from_its_own(world: World) -> None:
    jobs = [await world.enqueue(doomed.note, expires_at=datetime.now(UTC) + timedelta(minutes=1)) for _ in range(3)]
    await world.conn.execute(
        "insert into crontick.finished_jobs"
        " (id, run_at, created_at, finished_at, priority, attempt, kind, queue, status, payload)"
        " values (%s, now(), now(), now(), 0, 1, 'note', 'default', 'succeeded', '{}')",
        (jobs[1],),
    )
    await world.later("2 minutes")
    await world.tick()
    assert await world.rows("select id from crontick.unfinished_jobs") == [(jobs[1],)]
    assert [await world.status(job) for job in (jobs[0], jobs[2])] == ["cancelled"] * 2


async def test_the_next_due_moment_is_that_of_the_suspect_due_first(world: World) -> None:
    for _ in range(2):
        await world.enqueue(doomed.wait)
    await killed_at(world, "in")
    await world.later("1 hour")
    await world.tick(kinds=("note",))
    text = "update crontick.unfinished_jobs set run_at = crontick.now() + interval '1 hour' / id"
    await world.conn.execute(text)
    due_at = await world.value("select min(run_at) from crontick.unfinished_jobs")
    assert (await world.tick()).next_due_at == due_at


@pytest.mark.parametrize("what", [("kind", "wait"), ("queue", "default"), ("group", "g")])
async def test_a_suspect_that_is_paused_asks_for_no_tick(world: World, what: tuple[str, str]) -> None:
    await world.enqueue(doomed.wait, group_key="g")
    await killed_at(world, "in")
    await world.later("1 hour")
    await world.value("select crontick.pause(%s, %s, 'me')", *what)
    summary = await world.tick()
    assert (summary.rescued, summary.claimed, summary.more, summary.next_due_at) == (1, 0, False, None)
    await world.value("select crontick.resume(%s, %s, 'me')", *what)
    assert (await world.tick(kinds=("note",))).next_due_at is not None


async def test_out_of_attempts_a_rescued_job_still_gets_its_run_alone(world: World) -> None:
    job = await world.enqueue(doomed.wait, max_attempts=1)
    await world.enqueue(doomed.wait)
    await killed_at(world, "in")
    await world.later("1 hour")
    child = world.doomed()
    assert child.line() == f"in {job}"
    child.process.send_signal(doomed.GO_ON)
    child.line()
    await async_until(lambda: _status_is(world, job, "succeeded"))


async def test_five_deaths_alone_within_an_hour_pause_the_kind(world: World) -> None:
    for _ in range(3):
        await world.enqueue(doomed.poison)
    for _ in range(5):
        await died(world, limit=1)
    note = await world.enqueue(doomed.note)
    await world.tick()
    assert await world.rows("select what, name, by from crontick.pauses") == [("kind", "poison", "crontick")]
    assert await world.value("select count(*) from crontick.jobs where kind = 'poison' and status = 'queued'") == 1
    assert await world.status(note) == "succeeded"
    assert world.doomed().wait() == 0


async def test_a_cancelled_job_whose_process_died_stays_down(world: World) -> None:
    job = await world.enqueue(doomed.wait)
    await killed_at(world, "in")
    assert await world.value("select crontick.cancel(%s, 'me')", job) == "running"
    await world.later("1 hour")
    summary = await world.tick()
    assert (summary.rescued, summary.claimed) == (1, 0)
    assert await world.status(job) == "cancelled"
    assert await world.value("select count(*) from crontick.cancel_requests") == 0


async def test_a_rescue_leaves_no_row_of_the_dead_claim(world: World) -> None:
    for _ in range(3):
        await world.enqueue(doomed.wait)
    await killed_at(world, "in")
    assert await world.value("select count(*) from crontick.claims") == 1
    await world.later("1 hour")
    assert (await world.tick(kinds=("note",))).rescued == 3
    assert await world.value("select count(*) from crontick.claims") == 0


async def test_unique_key_and_place_in_the_group_survive_a_rescue(world: World) -> None:
    first = await world.enqueue(doomed.wait, group_key="g", unique_key="k")
    second = await world.enqueue(doomed.note, group_key="g")
    await killed_at(world, "in")
    await world.later("1 hour")
    summary = await world.tick(kinds=("note",))
    assert (summary.rescued, summary.claimed) == (1, 0)
    assert await world.enqueue(doomed.wait, unique_key="k") == first
    assert await world.status(second) == "queued"
    await world.value("select crontick.cancel(%s, 'me')", first)
    await world.tick()
    assert await world.status(second) == "succeeded"
    assert await world.enqueue(doomed.wait, unique_key="k") != first
