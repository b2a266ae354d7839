"""Which jobs a tick takes, in which order, and which it leaves."""

from typing import Any

import pytest

from crontick.jobs import Context, Kind, kind
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio


def noting(ran: list[int], name: str = "note") -> Kind[Any]:
    """A kind that notes the order in which its jobs run."""

    @kind(name)
    async def note(payload: Any, ctx: Context) -> None:
        ran.append(ctx.job.id)

    return note


async def test_higher_priority_runs_first_and_then_the_older(world: World) -> None:
    ran: list[int] = []
    note = noting(ran)
    low = await note.enqueue(world.conn, {}, priority=1, run_at=-100)
    late = await note.enqueue(world.conn, {}, priority=5, run_at=-10)
    early = await note.enqueue(world.conn, {}, priority=5, run_at=-20)
    world.settings = {"concurrency": 1}
    await world.tick(note, limit=3)
    assert [job for job in ran if job != low] == [early, late]


async def test_one_seat_in_five_goes_to_the_oldest_whatever_its_priority(world: World) -> None:
    note = noting([])
    await note.enqueue_many(world.conn, [{}] * 50, priority=9)
    await world.rows("select crontick.enqueue('note', run_at => now() - interval '1 h') from generate_series(1, 50)")
    await world.tick(note, limit=20)
    assert await world.rows("select priority, count(*) from crontick.finished_jobs group by 1 order by 1") == [
        (0, 4),
        (9, 16),
    ]


async def test_it_holds_over_a_whole_tick_with_few_seats(world: World) -> None:
    note = noting([])
    await note.enqueue_many(world.conn, [{}] * 50, priority=9)
    await world.rows("select crontick.enqueue('note', run_at => now() - interval '1 h') from generate_series(1, 50)")
    world.settings = {"concurrency": 2}
    await world.tick(note, limit=40)
    assert await world.rows("select priority, count(*) from crontick.finished_jobs group by 1 order by 1") == [
        (0, 8),
        (9, 32),
    ]


async def test_two_queues_of_one_priority_go_by_age_and_neither_starves(world: World) -> None:
    note = noting([])
    for _ in range(20):
        await note.enqueue(world.conn, {}, queue="a")
        await note.enqueue(world.conn, {}, queue="b")
    await world.tick(note, limit=20)
    assert await world.rows("select queue, count(*) from crontick.finished_jobs group by 1 order by 1") == [
        ("a", 10),
        ("b", 10),
    ]


async def test_a_tick_takes_as_many_as_its_limit_and_says_that_there_is_more(world: World) -> None:
    note = noting([])
    await note.enqueue_many(world.conn, [{}] * 30)
    summary = await world.tick(note, limit=25)
    assert (summary.claimed, summary.succeeded, summary.stop_reason, summary.more) == (25, 25, "limit", True)
    summary = await world.tick(note, limit=25)
    assert (summary.claimed, summary.stop_reason, summary.more, summary.next_due_at) == (5, "empty", False, None)


async def test_never_more_run_at_once_than_there_are_seats(world: World) -> None:
    running: set[int] = set()
    most: list[int] = []

    @kind("note")
    async def note(payload: Any, ctx: Context) -> None:
        running.add(ctx.job.id)
        most.append(len(running))
        async with ctx.db() as conn:
            await conn.execute("select 1")
        running.remove(ctx.job.id)

    await note.enqueue_many(world.conn, [{}] * 12)
    world.settings = {"concurrency": 3}
    await world.tick(note)
    assert (max(most), len(most)) == (3, 12)


async def test_a_tick_may_serve_some_queues_or_kinds_only(world: World) -> None:
    note, other = noting([]), noting([], "other")
    mail = await note.enqueue(world.conn, {}, queue="mail")
    slow = await other.enqueue(world.conn, {}, queue="slow")
    both = await other.enqueue(world.conn, {}, queue="mail")
    await world.tick(note, other, queues=("mail",), kinds=("note",))
    assert await world.status(mail, slow, both) == ["succeeded", "queued", "queued"]
    await world.tick(note, other, queues=("slow",))
    assert await world.status(slow, both) == ["succeeded", "queued"]
    summary = await world.tick(note, other, kinds=("other", "nope"))
    assert "this deployment has no kind nope" in summary.warnings
    assert await world.status(both) == ["succeeded"]
    assert await world.one("select bool_and(held_by is null) from crontick.jobs")


async def test_a_tick_for_one_queue_does_not_park_the_kinds_of_another_filter(world: World) -> None:
    note, other = noting([]), noting([], "other")
    await other.enqueue(world.conn, {})
    await world.tick(note, other, kinds=("note",))
    assert await world.rows("select held_by from crontick.unfinished_jobs") == [(None,)]


async def test_jobs_by_id_run_whatever_their_time(world: World) -> None:
    note = noting([])
    future, due = await note.enqueue(world.conn, {}, run_at=3600), await note.enqueue(world.conn, {})
    summary = await world.tick(note, jobs=(future,))
    assert (summary.succeeded, summary.more, await world.status(future, due)) == (1, False, ["succeeded", "queued"])


async def test_a_job_by_id_that_is_not_there_is_no_error(world: World) -> None:
    summary = await world.tick(noting([]), jobs=(4711,))
    assert (summary.claimed, summary.stop_reason) == (0, "empty")


async def test_a_job_that_expired_before_it_ran_is_cancelled(world: World) -> None:
    note = noting([])
    job = await world.one("select crontick.enqueue('note', expires_at => now() + interval '1 h')")
    await world.later(3601)
    summary = await world.tick(note)
    assert (summary.claimed, await world.status(job)) == (0, ["cancelled"])
    assert (await world.job(job))["last_error"] == "it expired before it ran"


async def test_a_failed_job_that_expired_before_its_next_attempt_is_cancelled(world: World) -> None:
    @kind("note")
    async def note(payload: Any) -> None:
        raise ValueError

    job = await world.one("select crontick.enqueue('note', expires_at => now() + interval '30 s')")
    await world.tick(note)
    await world.later(100)
    await world.tick(note)
    assert await world.status(job) == ["cancelled"]


async def test_a_hundred_expired_ones_do_not_hide_the_one_behind_them(world: World) -> None:
    note = noting([])
    await world.rows(
        "select crontick.enqueue('note', expires_at => now() + interval '1 s') from generate_series(1, 100)"
    )
    await world.later(2)
    await note.enqueue(world.conn, {})
    summary = await world.tick(note)
    assert (summary.succeeded, await world.counts()) == (1, {"cancelled": 100, "succeeded": 1})


@pytest.mark.parametrize(("what", "name"), [("queue", "mail"), ("kind", "note"), ("group", "g")])
async def test_what_is_paused_waits_and_what_is_resumed_runs(world: World, what: str, name: str) -> None:
    note, other = noting([]), noting([], "other")
    paused = await note.enqueue(world.conn, {}, queue="mail", group_key="g", priority=9)
    free = await other.enqueue(world.conn, {}, queue="slow", group_key="h")
    await world.rows("select crontick.pause(%s, %s, 'ann')", what, name)
    for _ in range(2):
        await world.tick(note, other)
        assert await world.status(paused, free) == ["queued", "succeeded"]
    await world.rows("select crontick.resume(%s, %s, 'ann')", what, name)
    await world.tick(note, other)
    assert await world.status(paused) == ["succeeded"]


async def test_pausing_a_queue_writes_none_of_its_rows(world: World) -> None:
    note = noting([])
    await note.enqueue_many(world.conn, [{}] * 50, queue="mail")
    await world.rows("select crontick.pause('queue', 'mail', 'ann')")
    before = await world.rows("select id, xmin::text from crontick.unfinished_jobs order by id")
    await world.tick(note)
    assert await world.rows("select id, xmin::text from crontick.unfinished_jobs order by id") == before


async def test_while_all_is_paused_nothing_is_claimed_and_the_tick_says_so(world: World) -> None:
    note = noting([])
    job = await note.enqueue(world.conn, {})
    await world.rows("select crontick.pause('all', '', 'ann')")
    summary = await world.tick(note)
    assert (summary.not_run, summary.claimed, await world.status(job)) == ("paused", 0, ["queued"])
    assert await world.rows("select stop_reason, ended_at is not null from crontick.ticks") == [("paused", True)]
    await world.rows("select crontick.resume('all', '', 'ann')")
    assert (await world.tick(note)).succeeded == 1


async def test_a_paused_deployment_claims_nothing(world: World) -> None:
    note = noting([])
    await note.enqueue(world.conn, {})
    world.settings = {"paused": True}
    assert (await world.tick(note)).as_dict()["reason"] == "paused"


async def test_a_dry_run_says_what_would_run_and_writes_nothing(world: World) -> None:
    note = noting([])
    low = await note.enqueue(world.conn, {})
    high = await note.enqueue(world.conn, {}, priority=3)
    await note.enqueue(world.conn, {}, run_at=60)
    summary = await world.tick(note, dry_run=True)
    assert [job.job for job in summary.would_run or []] == [high, low]
    assert (summary.claimed, await world.counts()) == (0, {"queued": 3})
    assert await world.one("select count(*) from crontick.ticks") == 0
