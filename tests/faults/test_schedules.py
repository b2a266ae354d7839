"""A slot is enqueued once: whatever ticks overlap, wherever they die, whoever holds its row."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from crontick.jobs import Item, kind, reminder
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import Unavailable
from tests.faults import doomed
from tests.faults.world import World, deployed
from tests.worlds.process import Child
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until

EACH_MINUTE = """
[[schedule]]
name = "minutely"
cron = "* * * * *"
kind = "note"
overlap = "allow"
catch_up = "all"
at_most = 100
"""
# Holds back whoever inserts a schedule's job, for as long as the gate is shut.
GATE = """
create table public.gate (shut boolean);
create function public.pass() returns trigger language plpgsql as $$
begin
    while exists (select from public.gate) loop
        perform pg_sleep(0.02);
    end loop;
    return new;
end $$;
create trigger gated before insert on crontick.unfinished_jobs for each row
when (new.payload ? '$schedule') execute function public.pass();
"""
AT_THE_GATE = "select count(*) > 0 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"
FIRED = """
select payload -> '$schedule' ->> 'local', count(*) from crontick.jobs where payload ? '$schedule' group by 1 order by 1
"""


@pytest.fixture
async def minutely(world: World, tmp_path: Path) -> World:
    """A deployment with one schedule is known, and its first slot has come."""
    path = tmp_path / "crontick.toml"
    path.write_text(EACH_MINUTE)
    world.settings = {"config_path": str(path)}
    await world.conn.execute(
        "update crontick.test_clock set ahead = timestamptz '2026-11-01 12:00:30Z' - statement_timestamp()"
    )
    await world.tick()
    await world.later("1 minute")
    return world


async def fired_once_each(world: World, slots: int) -> bool:
    """The first so many slots have one job each, and nothing else has one."""
    start = datetime(2026, 11, 1, 12, tzinfo=UTC)
    want = [(f"{start + timedelta(minutes=n):%Y-%m-%dT%H:%M:%S}", 1) for n in range(1, slots + 1)]
    return await world.rows(FIRED) == want


async def at_the_gate(world: World) -> Child:
    """A tick in another process that is about to write the job of a slot."""
    await world.conn.execute(GATE.encode())
    await world.conn.execute("insert into public.gate values (true)")
    child = world.doomed()
    await async_until(lambda: world.value(AT_THE_GATE), seconds=30)
    return child


async def open_the_gate(world: World) -> None:
    await world.conn.execute("delete from public.gate")
    await async_until(lambda: _nobody_else(world), seconds=30)


async def _nobody_else(world: World) -> bool:
    text = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    return int(await world.value(text)) == 0


async def test_fifty_ticks_at_once_fire_each_slot_once(minutely: World) -> None:
    settings = {**minutely.settings, "max_parallel_ticks": 50, "concurrency": 2, "db_connections": 1}
    deployment = deployed(minutely.url, **settings)
    for slots in (1, 2, 3):
        summaries = await asyncio.gather(*(run_tick(deployment, TickRequest()) for _ in range(50)))
        assert sum(summary.scheduled for summary in summaries) == 1
        assert [summary.errors for summary in summaries] == [[]] * 50
        assert await fired_once_each(minutely, slots)
        await minutely.later("1 minute")
    assert await minutely.rows("select count(*), count(distinct job) from ran") == [(3, 3)]


async def test_killed_after_the_opening_before_the_fire(minutely: World) -> None:
    """A function that blocks its loop keeps the tick from ever saying what its opening found."""
    await minutely.enqueue(doomed.block)
    child = minutely.doomed()
    assert child.line(seconds=30).startswith("in")
    child.kill()
    assert await fired_once_each(minutely, 0)
    summary = await minutely.tick(kinds=("note",))
    assert (summary.scheduled, summary.succeeded) == (1, 1)
    assert await fired_once_each(minutely, 1)


async def test_the_server_ends_the_tick_between_the_record_of_the_slot_and_its_commit(minutely: World) -> None:
    child = await at_the_gate(minutely)
    child.kill()
    await minutely.rows(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where datname = current_database() and pid <> pg_backend_pid()"
    )
    await open_the_gate(minutely)
    assert await fired_once_each(minutely, 0)
    assert (await minutely.tick()).succeeded == 1
    assert await fired_once_each(minutely, 1)


async def test_killed_after_the_commit_before_the_answer(minutely: World) -> None:
    """What the dead tick had asked for is done: its job is claimed, is rescued, and runs once."""
    child = await at_the_gate(minutely)
    child.kill()
    await open_the_gate(minutely)
    assert await fired_once_each(minutely, 1)
    assert (await minutely.tick()).claimed == 0
    await minutely.rows("update crontick.declared_schedules set look_at = 'infinity' returning name")
    await minutely.later("1 hour")
    summary = await minutely.tick()
    assert (summary.scheduled, summary.rescued, summary.succeeded) == (0, 1, 1)
    assert await fired_once_each(minutely, 1)


async def test_the_answer_to_a_fire_is_lost_and_the_repeat_is_told_the_same(minutely: World, proxy: Proxy) -> None:
    @reminder("between", kind="note", lead=timedelta(hours=1))
    async def between(start: datetime, end: datetime) -> AsyncIterator[Item]:
        """The generator is asked after the opening, before the first exchange."""
        proxy.lose_next_answer = True
        if start > end:
            yield Item(item="none", item_at=start, payload={})

    settings = Settings(
        database_url=proxy.url,
        environment="test",
        keep_connection_seconds=0,
        config_path=Path(minutely.settings["config_path"]),
    )
    deployment = load_deployment(settings, kinds=doomed.KINDS, reminders=[between])
    await minutely.conn.execute(
        "insert into crontick.deployments (hash, version, kinds, first_seen_at, last_seen_at)"
        " values (%s, '', '{}', crontick.now(), crontick.now())",
        (deployment.hash,),
    )
    summary = await run_tick(deployment, TickRequest())
    assert not proxy.lose_next_answer
    assert (summary.scheduled, summary.succeeded, summary.lost) == (1, 1, 0)
    assert await fired_once_each(minutely, 1)


async def test_sixty_slots_while_connections_are_cut_at_random(minutely: World) -> None:
    """Each has its job at the end: the record of a slot and its job are one transaction."""
    chance = random.Random(14)
    minutely.settings |= {"budget_seconds": 5, "max_budget_seconds": 5, "max_parallel_ticks": 100}
    for _ in range(60):
        tick = asyncio.create_task(minutely.tick())
        for _ in range(chance.randrange(40)):
            await asyncio.sleep(0)
        await minutely.rows(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
        )
        with contextlib.suppress(Unavailable):
            await tick
        await minutely.later("1 minute")
    await minutely.tick()
    assert await fired_once_each(minutely, 61)


async def test_a_row_that_a_user_holds_is_not_waited_for_and_fires_later(minutely: World) -> None:
    async with await psycopg.AsyncConnection.connect(minutely.url) as user:
        await user.execute("select crontick.run_schedule('minutely', 'ann')")
        summary = await minutely.tick()
        assert (summary.scheduled, summary.claimed) == (0, 0)
        await user.rollback()
    assert (await minutely.tick()).scheduled == 1


async def test_a_row_that_a_user_holds_keeps_a_new_deployment_waiting_not_its_tick(minutely: World) -> None:
    @kind("more")
    async def more(payload: dict[str, str]) -> None:
        """A kind that makes another deployment."""

    deployment = deployed(minutely.url, (*doomed.KINDS, more), **minutely.settings)
    known = "select count(*) from crontick.deployments where hash = %s"
    async with await psycopg.AsyncConnection.connect(minutely.url) as user:
        await user.execute("select * from crontick.declared_schedules for update")
        assert (await run_tick(deployment, TickRequest())).ran
        assert await minutely.value(known, deployment.hash) == 0
    await run_tick(deployment, TickRequest())
    assert await minutely.value(known, deployment.hash) == 1
