"""A tick is killed (SIGKILL) in each gap of the protocol, and what was promised for that gap holds."""

from tests.faults import doomed
from tests.faults.world import World
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until


async def killed_at(world: World, word: str, url: str | None = None, **settings: object) -> None:
    """Run a tick in another process and kill it when it says that."""
    child = world.doomed(url, **settings)
    assert child.line().startswith(word)
    child.kill()


async def test_killed_after_the_claim_before_the_function(world: World) -> None:
    job = await world.enqueue(doomed.note)
    await killed_at(world, "claimed", around="tests.faults.doomed:hesitate")
    assert await world.status(job) == "running"
    await world.later("1 hour")
    summary = await world.tick()
    assert (summary.rescued, summary.succeeded) == (1, 1)
    assert await world.runs(job) == 1


async def test_killed_in_the_function(world: World) -> None:
    job = await world.enqueue(doomed.wait)
    await killed_at(world, "in")
    assert (await world.tick()).claimed == 0
    await world.later("1 hour")
    assert (await world.tick(kinds=("note",))).rescued == 1
    assert await world.outcomes(job) == ["rescued"]
    assert await world.status(job) == "queued"


async def test_killed_after_the_function_before_the_settle_it_runs_again(world: World, proxy: Proxy) -> None:
    job = await world.enqueue(doomed.wait)
    child = world.doomed(proxy.url)
    assert child.line().startswith("in")
    proxy.black_hole = True
    asked = proxy.round_trips
    child.process.send_signal(doomed.GO_ON)
    await async_until(lambda: proxy.round_trips > asked)
    child.kill()
    await world.later("1 hour")
    again = world.doomed()
    assert again.line() == f"in {job}"
    again.process.send_signal(doomed.GO_ON)
    assert [again.line(), again.line()] == [f"out {job}", "ended claimed=1 succeeded=1 rescued=1"]
    assert await world.status(job) == "succeeded"
    assert await world.runs(job) == 2


async def test_killed_inside_the_transaction_of_complete(world: World) -> None:
    job = await world.enqueue(doomed.pay, {"stop": "uncommitted"})
    await killed_at(world, "uncommitted")
    await async_until(lambda: gone(world))
    assert await world.runs(job) == 0
    assert await world.status(job) == "running"
    await world.later("1 hour")
    assert (await world.tick(kinds=("note",))).rescued == 1
    assert await world.status(job) == "queued"


async def gone(world: World) -> bool:
    """Whether the killed process has no session any more: the server notices a little later."""
    text = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    return int(await world.value(text)) == 0


async def test_killed_after_the_commit_of_complete(world: World) -> None:
    job = await world.enqueue(doomed.pay, {"stop": "committed"}, group_key="account 7")
    follower = await world.enqueue(doomed.note, group_key="account 7")
    await killed_at(world, "committed")
    assert await world.status(job) == "succeeded"
    # The group does not wait for the lease of the dead tick: complete left its call.
    assert (await world.tick()).succeeded == 1
    assert await world.status(follower) == "succeeded"
    await world.later("1 hour")
    summary = await world.tick()
    assert (summary.claimed, summary.rescued, await world.runs(job)) == (0, 0, 1)
    assert await world.rows("select * from crontick.claims") == []


async def test_a_killed_tick_shows_as_died_and_frees_its_slot_by_itself(world: World) -> None:
    await world.enqueue(doomed.wait)
    world.settings = {"max_parallel_ticks": 1}
    await killed_at(world, "in")
    assert (await world.tick()).not_run == "busy"
    await world.later("1 hour")
    assert (await world.tick(kinds=("note",))).ran
    [row] = await world.rows(
        "select trigger, ended_at is null and lease_expires_at < crontick.now(), claimed, succeeded"
        " from crontick.ticks order by id limit 1"
    )
    assert row == ("doomed", True, 1, 0)


async def test_a_thousand_leases_that_hold_do_not_hide_the_one_that_ran_out(world: World) -> None:
    await world.enqueue(doomed.wait)
    await killed_at(world, "in")
    await world.later("1 hour")
    await world.conn.execute(
        "with held as ("
        "  insert into crontick.unfinished_jobs"
        "    (kind, queue, priority, status, claim, payload, run_at, due_at, created_at, updated_at, lease_expires_at)"
        "  select 'note', 'default', 0, 'running', n, '{}', now(), now(), now(), now(), crontick.now() + '1 hour'"
        "  from generate_series(1, 1000) as n returning id, claim, lease_expires_at)"
        " insert into crontick.claims (claim, tick, lease_expires_at, alone, job_ids)"
        " select claim, 0, lease_expires_at, false, array[id] from held"
    )
    assert (await world.tick(kinds=("note",))).rescued == 1


async def test_killed_before_the_send_its_marker_is_in_doubt_and_nothing_is_sent_again(world: World) -> None:
    job = await world.enqueue(doomed.mail, {"key": "order 7", "stop": "before"})
    await killed_at(world, "before")
    await parked_in_doubt(world, job)
    assert await world.runs(job) == 0


async def test_killed_between_the_send_and_the_settle_it_is_not_sent_again(world: World) -> None:
    job = await world.enqueue(doomed.mail, {"key": "order 7", "stop": "sent"})
    await killed_at(world, "sent")
    await parked_in_doubt(world, job)
    assert await world.runs(job) == 1


async def parked_in_doubt(world: World, job: int) -> None:
    """Rescued, and run alone once more: dead in doubt, for a person to decide; the key is taken for others too."""
    await world.later("1 hour")
    assert (await world.tick()).dead == 1
    assert await world.rows("select job, state from crontick.markers") == [(job, "in_doubt")]
    assert await world.outcomes(job) == ["rescued", "dead"]
    other = await world.enqueue(doomed.mail, {"key": "order 7"})
    assert (await world.tick()).dead == 1
    assert await world.runs(other) == 0


async def test_killed_in_a_wave_of_marked_jobs_only_what_was_reserved_is_in_doubt(world: World) -> None:
    jobs = [await world.enqueue(doomed.mail, {"key": f"order {n}", "stop": "sending"}) for n in range(5)]
    await killed_at(world, "sending", concurrency=2)
    await world.later("1 hour")
    await world.tick(kinds=("note",))
    assert await world.rows("select job, state from crontick.markers order by job") == [
        (job, "in_doubt") for job in jobs[:2]
    ]
