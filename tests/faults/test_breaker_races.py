"""One probe at a time, whatever dies, waits or runs at once; and nothing that a breaker held stays behind."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, Retry, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.sql import SCHEMA
from tests.faults import doomed
from tests.faults.world import World, deployed
from tests.worlds.proxy import Proxy

FAILURES = 5


async def fallen(world: World) -> None:
    """The breaker of ``call`` is open; the five that failed are tried again in a day."""
    for _ in range(FAILURES):
        await world.enqueue(doomed.call, {"down": True})
    await world.tick()
    assert await state(world) == ("open", 1)


@pytest.fixture(autouse=True)
async def known(world: World) -> None:
    """A person may open the breaker of a kind that is known."""
    await world.tick()


async def state(world: World, target: str = "kind:call") -> tuple[str, int] | None:
    """Its state, and how often it opened."""
    rows = await world.rows("select state, times_opened from crontick.breakers where target = %s", target)
    return (rows[0][0], rows[0][1]) if rows else None


async def killed_at(world: World, word: str, **settings: Any) -> int:
    """Kill a tick in another process when it says that; the job that it had."""
    child = world.doomed(**settings)
    said, job = child.line().split()
    assert said == word
    child.kill()
    return int(job)


@pytest.mark.parametrize(
    ("word", "settings"),
    [("calling", {}), ("claimed", {"around": "tests.faults.doomed:hesitate"})],
    ids=["with the probe running", "before the probe began"],
)
async def test_a_tick_killed_while_half_open_leaves_no_breaker_stuck(
    world: World, word: str, settings: dict[str, Any]
) -> None:
    await fallen(world)
    probe = await world.enqueue(doomed.call, {"stop": True})
    other = await world.enqueue(doomed.call, {"stop": True})
    await world.later("2 minutes")
    assert await killed_at(world, word, **settings) == probe
    assert await state(world) == ("half_open", 1)
    assert (await world.tick()).claimed == 0  # its lease holds yet
    assert await world.status(other) == "queued"
    await world.later("1 minute")
    summary = await world.tick()
    assert (summary.rescued, summary.claimed) == (1, 0)
    assert await state(world) == ("open", 2)
    await world.later("3 minutes")
    await world.tick()
    assert (await state(world) or ("",))[0] == "closed"
    assert await world.status(other) == "succeeded"
    await world.tick()
    assert await world.status(probe) == "succeeded"


async def test_a_probe_that_was_the_only_job_is_tried_again_alone(world: World) -> None:
    await fallen(world)
    probe = await world.enqueue(doomed.call, {"stop": True})
    await world.later("2 minutes")
    await killed_at(world, "calling")
    await world.later("1 minute")
    due = (await world.tick()).next_due_at
    assert due == await world.value("select retry_at from crontick.breakers")
    await world.later("3 minutes")
    assert (await world.tick()).succeeded == 1
    assert await world.status(probe) == "succeeded"
    assert await state(world) == ("closed", 2)


@pytest.mark.parametrize("met", [True, False], ids=["held before", "due all at once"])
async def test_fifty_ticks_at_once_send_one_probe(world: World, *, met: bool) -> None:
    begun, others_ended = [], asyncio.Event()

    @kind("call", breaker=True, needs=0, timeout=60, backoff=[86400])
    async def call(payload: dict[str, Any], ctx: Context) -> None:
        begun.append(ctx.job.id)
        if len(begun) > FAILURES:
            await others_ended.wait()
        raise Retry("503 from crm.example", status_code=503)

    here = deployed(world.url, [call], max_parallel_ticks=100)
    for _ in range(FAILURES):
        await call.enqueue(world.conn, {})
    await run_tick(here, TickRequest())
    jobs = [await call.enqueue(world.conn, {}) for _ in range(60)]
    while met and (await run_tick(here, TickRequest())).more:
        pass
    await world.later("2 minutes")
    ticks = {asyncio.create_task(run_tick(here, TickRequest())) for _ in range(50)}
    running = ticks
    while len(running) > 1:
        ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED, timeout=60)
        assert ended
    others_ended.set()
    summaries = await asyncio.gather(*ticks)
    assert [summary.ran for summary in summaries].count(True) == 50
    if begun[FAILURES:] == []:
        # Whoever had the lock found all jobs in the hands of others, who held them: that is told, and the next tick's.
        assert not met
        assert any(summary.more for summary in summaries)
        await run_tick(here, TickRequest())
    assert len(begun) == FAILURES + 1
    assert begun[-1] == jobs[0] or not met
    assert await state(world) == ("open", 2)
    held = "select count(*) from crontick.unfinished_jobs where held_by like 'breaker:%%' and attempt = 0"
    assert await world.value(held) == 59


async def test_a_suspect_of_a_target_that_is_down_keeps_no_other_from_its_lone_run(world: World) -> None:
    await fallen(world)
    first, second = await world.enqueue(doomed.call), await world.enqueue(doomed.note)
    suspects = "update crontick.unfinished_jobs set held_by = 'suspect', due_at = 'infinity' where id = any(%s)"
    await world.conn.execute(suspects, ([first, second],))
    await world.tick()
    assert (await world.status(first), await world.status(second)) == ("queued", "succeeded")


async def test_a_probe_that_called_nobody_gives_its_place_to_the_next(world: World) -> None:
    await fallen(world)
    misfit = await world.enqueue(doomed.call, {"down": False})
    await world.conn.execute("update crontick.unfinished_jobs set payload = '[]' where id = %s", (misfit,))
    job = await world.enqueue(doomed.call)
    await world.later("2 minutes")
    await world.tick()
    assert await world.status(misfit) == "failed"
    assert await world.status(job) == "succeeded"
    assert await state(world) == ("closed", 1)


async def test_a_person_who_is_just_deciding_keeps_no_tick_waiting(world: World) -> None:
    async with await psycopg.AsyncConnection.connect(world.url) as person:
        await person.execute("select crontick.open_breaker('kind:call', 'ann')")
        for _ in range(FAILURES):
            await world.enqueue(doomed.call, {"down": True})
        summary = await world.tick()
        assert (summary.failed, summary.more) == (FAILURES, True)  # nobody could answer what they said
        assert await state(world) is None
        await person.rollback()
    held = await world.enqueue(doomed.call)
    assert (await world.tick()).claimed == 0  # what the five said was kept, and is answered now
    assert await state(world) == ("open", 1)
    async with await psycopg.AsyncConnection.connect(world.url) as person:
        await person.execute("select crontick.close_breaker('kind:call', 'ann')")
        await world.later("2 minutes")
        assert (await world.tick()).claimed == 0
        await person.commit()
    assert (await world.tick()).succeeded == 1
    assert await world.status(held) == "succeeded"


@pytest.mark.parametrize("at", ["the verdict", "the probe"])
async def test_a_breakers_row_that_somebody_holds_keeps_no_tick_waiting(world: World, at: str) -> None:
    await fallen(world)
    probe = await world.enqueue(doomed.call)
    await world.later("2 minutes")
    if at == "the verdict":
        await world.conn.execute("update crontick.breakers set state = 'closed', opened_at = null, failures = 1")
    before = await state(world)
    async with await psycopg.AsyncConnection.connect(world.url) as person:
        await person.execute("select from crontick.breakers for update")
        summary = await world.tick()
        assert (summary.succeeded, summary.more) == ((1, True) if at == "the verdict" else (0, True))
        assert await state(world) == before
    await world.tick()
    assert await world.status(probe) == "succeeded"
    assert await world.value("select failures from crontick.breakers") == 0


async def test_what_a_tick_held_while_somebody_reset_the_breaker_is_let_go(world: World) -> None:
    await fallen(world)
    job = await world.enqueue(doomed.call)
    async with await psycopg.AsyncConnection.connect(world.url) as person:
        await person.execute("select crontick.reset_breaker('kind:call', 'ann')")
        assert (await world.tick()).claimed == 0
        await person.commit()
    assert await state(world) is None
    assert (await world.value("select held_by from crontick.jobs where id = %s", job)).startswith("breaker:")
    assert (await world.tick()).succeeded == 1
    assert await state(world) is None


async def test_what_a_person_opened_stays_open_and_is_not_tried(world: World) -> None:
    await world.conn.execute("select crontick.open_breaker('kind:call', 'ann', 'their maintenance')")
    job = await world.enqueue(doomed.call)
    summary = await world.tick()
    assert (summary.claimed, summary.next_due_at) == (0, None)
    await world.later("2 days")
    assert (await world.tick()).claimed == 0
    why = await world.value("select crontick.why(%s)", job)
    assert "whose breaker ann opened at" in why
    assert why.endswith("(their maintenance): `crontick breakers close kind:call`")
    await world.conn.execute("select crontick.close_breaker('kind:call', 'ann')")
    assert (await world.tick()).succeeded == 1


async def test_a_job_of_a_group_that_waits_for_its_target_keeps_the_order(world: World) -> None:
    await fallen(world)
    first = await world.enqueue(doomed.call, group_key="account 7")
    second = await world.enqueue(doomed.note, group_key="account 7")
    assert (await world.tick()).claimed == 0
    assert await world.status(second) == "queued"
    await world.later("2 minutes")
    assert (await world.tick()).succeeded == 2
    ran = await world.rows("select job from ran order by ctid")
    assert [job for (job,) in ran[FAILURES:]] == [first, second]


@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_kind_that_loses_its_breaker_gets_its_jobs_back(world: World, tmp_path: Path, *, by_hand: bool) -> None:
    await fallen(world)
    await world.enqueue(doomed.call)
    assert (await world.tick()).claimed == 0
    (tmp_path / "crontick.toml").write_text("[kinds.call]\nbreaker = false\n")
    if by_hand:
        await world.conn.execute("select crontick.open_breaker('kind:call', 'ann')")
    world.settings["config_path"] = str(tmp_path / "crontick.toml")
    assert (await world.tick()).succeeded == 1
    assert await state(world) == ("closed", 1)


async def test_a_target_is_forgotten_after_twenty_successes_or_a_day(world: World) -> None:
    await world.enqueue(doomed.call, {"down": True})
    await world.tick()
    for _ in range(20):
        assert await state(world) == ("closed", 0)
        await world.enqueue(doomed.call)
        await world.tick()
    assert await state(world) is None
    await world.enqueue(doomed.call, {"down": True})
    await world.tick()
    await world.later("23 hours")
    await world.tick(kinds=("note",))
    assert await state(world) == ("closed", 0)
    await world.later("2 hours")
    await world.tick(kinds=("note",))
    assert await state(world) is None


async def test_an_answer_that_was_lost_counts_once(world: World) -> None:
    job = await world.enqueue(doomed.call)
    await world.conn.execute(
        "select crontick.open_tick(1, %s, 'test', '', '', 25, 40, 4, false, '{call}', '', null, '', '', '')", (SCHEMA,)
    )
    await world.conn.execute(
        "select crontick.claim(1, 7, 1, 0, 0, 40, '{call}', null, null, null, null, false, false, null, '{call}')"
    )
    told = f'[{{"id": {job}, "claim": 7, "outcome": "failed", "delay_seconds": 60, "target": "failed"}}]'
    for _ in range(2):
        await world.conn.execute("select crontick.settle(1, '{}', '{}', %s, null)", (told,))
    assert await world.value("select failures from crontick.breakers") == 1


async def test_what_is_open_costs_the_others_no_wait(world: World) -> None:
    """A thousand jobs of a target that is down stand before the one that can run."""
    await fallen(world)
    await doomed.call.enqueue_many(world.conn, [{}] * 1000)
    note = await world.enqueue(doomed.note, run_at=timedelta(seconds=1))
    await world.later("2 seconds")
    await world.tick()
    assert await world.status(note) == "succeeded"
    held = "select count(*) from crontick.unfinished_jobs where held_by like 'breaker:%%'"
    assert await world.value(held) == 1000


async def test_what_expired_while_it_was_held_is_cancelled_and_no_probe(world: World, proxy: Proxy) -> None:
    await fallen(world)
    soon = await world.value("select crontick.now() + interval '90 seconds'")
    expired = [await world.enqueue(doomed.call, expires_at=soon) for _ in range(30)]
    job = await world.enqueue(doomed.call)
    while (await world.tick()).more:
        pass
    await world.later("2 minutes")
    await world.tick(url=proxy.url)
    assert proxy.round_trips < 10  # not one for each of them
    assert {await world.status(each) for each in expired} == {"cancelled"}
    assert await world.status(job) == "succeeded"


async def test_a_probe_that_a_limit_holds_leaves_its_place(world: World) -> None:
    await fallen(world)
    await world.conn.execute("update crontick.breakers set retry_at = crontick.now(), look_at = crontick.now()")
    await world.enqueue(doomed.call)
    await world.conn.execute(
        "select crontick.open_tick(1, %s, 'test', '', '', 25, 40, 4, false, '{call}', '', null, '', '', '')", (SCHEMA,)
    )
    limits = '[{"name": "none", "kinds": ["call"], "concurrency": 0, "said": "none at all"}]'
    claim = "select crontick.claim(1, 7, 1, 0, 0, 40, '{call}', null, null, null, null, false, false, %s, '{call}')"
    assert await world.rows(claim, limits) == []
    assert await state(world) == ("open", 1)


async def test_a_limit_without_room_moves_one_held_job_and_not_one_a_tick(world: World, tmp_path: Path) -> None:
    config = tmp_path / "crontick.toml"
    config.write_text('[limits.call]\nkind = "call"\nrate = "1/hour"\nburst = 5\n')
    world.settings["config_path"] = config
    await fallen(world)
    await doomed.call.enqueue_many(world.conn, [{}] * 200)
    await world.tick()
    await world.later("2 minutes")
    for _ in range(3):
        summary = await world.tick()
        assert (summary.claimed, summary.more) == (0, False)
    waiting = "select left(held_by, 7), count(*) from crontick.unfinished_jobs where held_by is not null group by 1"
    assert dict(await world.rows(waiting)) == {"breaker": 199, "limit:c": 1}
    await world.later("1 hour")
    assert (await world.tick()).succeeded == 1
    assert await state(world) == ("closed", 1)
    summary = await world.tick()
    assert (summary.claimed, summary.more) == (0, False)
    assert dict(await world.rows(waiting)) == {"limit:c": 199}  # by the limit's pace, and not five at each look


async def test_a_probe_whose_line_somebody_holds_stays_the_next_to_be_tried(world: World, tmp_path: Path) -> None:
    config = tmp_path / "crontick.toml"
    config.write_text('[limits.call]\nkind = "call"\nrate = "100/minute"\n')
    world.settings["config_path"] = config
    await fallen(world)
    jobs = await doomed.call.enqueue_many(world.conn, [{}] * 10)
    await world.tick()
    await world.later("2 minutes")
    async with await psycopg.AsyncConnection.connect(world.url) as person:
        await person.execute("select from crontick.limit_lines for update")
        summary = await world.tick()
        assert (summary.claimed, summary.stop_reason) == (0, "empty")
        held = "select count(*) from crontick.unfinished_jobs where held_by like 'breaker:%%'"
        assert await world.value(held) == 9
        assert await world.value("select probe_job from crontick.breakers") == jobs[0]
    assert (await world.tick()).succeeded == 10


async def test_a_function_that_completed_its_job_itself_was_a_probe_too(world: World) -> None:
    @kind("call", breaker=True)
    async def call(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.db() as conn, conn.transaction():
            await ctx.complete(conn)

    await fallen(world)
    await call.enqueue(world.conn, {})
    await world.later("2 minutes")
    assert (await run_tick(deployed(world.url, [call]), TickRequest())).succeeded == 1
    assert await state(world) == ("closed", 1)


@pytest.mark.parametrize("said", ["who knows", 7, ["failed"]])
async def test_what_a_function_says_of_its_target_may_be_anything(world: World, said: Any) -> None:
    @kind("call", breaker=True)
    async def call(payload: dict[str, Any], ctx: Context) -> None:
        ctx.target = said

    job = await call.enqueue(world.conn, {})
    assert (await run_tick(deployed(world.url, [call]), TickRequest())).succeeded == 1
    assert await world.status(job) == "succeeded"


async def test_a_function_that_runs_into_its_time_found_its_target_down(world: World) -> None:
    @kind("call", breaker=True, timeout=0.05, needs=0)
    async def call(payload: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    for _ in range(FAILURES):
        await call.enqueue(world.conn, {})
    await run_tick(deployed(world.url, [call]), TickRequest())
    assert await state(world) == ("open", 1)


async def test_faults_of_our_own_open_nothing(world: World) -> None:
    @kind("call", breaker=True)
    async def call(payload: dict[str, Any]) -> None:
        raise KeyError("a fault in the function")

    for _ in range(12):
        await call.enqueue(world.conn, {})
    assert (await run_tick(deployed(world.url, [call]), TickRequest())).failed == 12
    assert await state(world) is None


async def test_why_tells_who_is_tried_and_what_goes_on(world: World) -> None:
    await fallen(world)
    probe = await world.enqueue(doomed.call, {"stop": True})
    held = [await world.enqueue(doomed.call, {"stop": True}) for _ in range(30)]
    while (await world.tick()).more:
        pass
    await world.later("2 minutes")
    why = "select crontick.why(%s)"
    assert "one job tries it in the next tick" in await world.value(why, held[0])
    await killed_at(world, "calling")
    told = f"waits for kind:call, which kept failing and is tried by job {probe} just now: `crontick why {probe}`"
    assert await world.value(why, held[0]) == told
    await world.conn.execute("select crontick.close_breaker('kind:call', 'ann')")
    assert "go on in batches" in await world.value(why, held[0])


async def test_ticks_that_serve_other_kinds_let_one_job_go_and_no_more(world: World) -> None:
    await fallen(world)
    for _ in range(10):
        await world.enqueue(doomed.call)
    while (await world.tick()).more:
        pass
    await world.later("2 minutes")
    for _ in range(3):
        await world.tick(kinds=("note",))
        held = "select count(*) from crontick.unfinished_jobs where held_by like 'breaker:%%'"
        assert await world.value(held) == 9
    assert (await world.tick()).succeeded == 10


@pytest.mark.parametrize("verdict", ["ok", "failed"])
async def test_only_the_probe_is_believed_while_it_is_half_open(world: World, verdict: str) -> None:
    """An attempt that began before it opened ends while the probe runs."""
    await world.conn.execute(
        "select crontick.open_tick(1, %s, 'test', '', '', 25, 40, 4, false, '{call}', '', null, '', '', '')", (SCHEMA,)
    )
    claim = "select crontick.claim(1, %s, 1, 0, 0, 40, '{call}', null, null, null, null, false, false, null, '{call}')"
    straggler = await world.enqueue(doomed.call)
    assert len(await world.rows(claim, 7)) == 1
    await world.conn.execute("select crontick.open_breaker('kind:call', 'ann')")
    await world.conn.execute("update crontick.breakers set retry_at = crontick.now(), look_at = crontick.now()")
    probe = await world.enqueue(doomed.call)
    assert len(await world.rows(claim, 8)) == 1
    told = '[{"id": %s, "claim": %s, "outcome": "failed", "delay_seconds": 60, "target": "%s"}]'
    settle = "select crontick.settle(1, '{}', '{}', %s, null)"
    await world.conn.execute(settle, (told % (straggler, 7, verdict),))
    assert await state(world) == ("half_open", 0)
    await world.conn.execute(settle, (told % (probe, 8, "failed"),))
    assert await state(world) == ("open", 1)


async def test_a_deployment_that_lacks_the_kind_leaves_its_breaker_alone(world: World) -> None:
    await fallen(world)
    for _ in range(10):
        await world.enqueue(doomed.call)
    while (await world.tick()).more:
        pass
    await world.later("2 minutes")
    summary = await run_tick(deployed(world.url, [doomed.note]), TickRequest())
    assert not summary.more
    held = "select count(*) from crontick.unfinished_jobs where held_by like 'breaker:%%'"
    assert await world.value(held) == 10
    assert (await world.tick()).succeeded == 10


async def test_what_waits_for_a_kind_that_no_deployment_knows_wakes_nobody(world: World) -> None:
    await fallen(world)
    await world.enqueue(doomed.call)
    await world.tick()
    await world.later("2 days")
    others = deployed(world.url, [doomed.note])
    await run_tick(others, TickRequest())
    assert (await run_tick(others, TickRequest())).next_due_at is None
    assert (await world.tick()).claimed == 1
