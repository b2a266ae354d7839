"""Ticks that die, and answers that are lost, beside a limit: nothing is drawn twice, and nothing waits for the dead."""

from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.sql import SCHEMA
from tests.limits.conftest import LimitedWorld
from tests.worlds.process import Processes
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio

TICK = """
import asyncio, sys
from pathlib import Path
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.tick.kinds import hang
settings = Settings(database_url=sys.argv[1], environment="test", config_path=Path(sys.argv[2]))
asyncio.run(run_tick(load_deployment(settings, kinds=[hang]), TickRequest()))
"""
ROW = '[{"name": "x", "kinds": ["hang"], "spacing_us": 60000000, "burst": 2, "said": "1 a minute, 2 at once"}]'
OPEN = "select crontick.open_tick(%s, %s, 'test', '', '', 25, 40, 9, false, '{hang}', '', null, '', '', '')"
CLAIM = "select id from crontick.claim(%s, %s, 10, 0, 0, 40, '{hang}', null, null, null, null, true, %s, %s)"
CLOSE = (
    "select closed, more from crontick.close_tick(%s, %s, 0, 'empty', true, 0, '{hang}', null, null, null, '{1,1,1}')"
)
SETTLE = "select lost, held from crontick.settle(%s, %s, %s, %s, null, %s)"


@kind("hang", timeout=20, needs=0.1)
async def hang(payload: dict[str, Any]) -> None:
    """What hangs in the process that is killed ends at once here."""


async def drawn(world: LimitedWorld) -> float:
    """How many tokens are out."""
    return float(await world.one("select extract(epoch from tat - crontick.now()) / 60 from crontick.limit_lines"))


async def test_the_jobs_of_a_killed_tick_count_until_its_lease_ends(world: LimitedWorld, processes: Processes) -> None:
    world.says('[limits.hang]\nkind = "hang"\nconcurrency = 2')
    await hang.enqueue_many(world.conn, [{}] * 5)
    child = processes.start(TICK, world.url, str(world.path))
    assert [child.line(seconds=60), child.line(seconds=60)] == ["began", "began"]
    child.kill()
    assert (await world.tick(hang)).claimed == 0
    assert (await world.counts(), await world.waiting()) == ({"queued": 3, "running": 2}, {"hang": 3})
    assert await world.one(
        "select crontick.next_due(crontick.now(), '{}') = min(lease_expires_at) from crontick.claims"
    )
    await world.later(3600)
    summary = await world.tick(hang)
    assert (summary.rescued, summary.succeeded) == (2, 5)


async def test_a_lease_that_ran_out_counts_no_more_though_nobody_has_rescued_yet(world: LimitedWorld) -> None:
    one = '[{"name": "x", "kinds": ["hang"], "concurrency": 1, "said": "1 at a time"}]'
    await hang.enqueue_many(world.conn, [{}] * 2)
    await world.rows(OPEN, 1, SCHEMA)
    await world.rows(OPEN, 2, SCHEMA)
    assert len(await world.rows(CLAIM, 1, 10, "false", one)) == 1
    assert await world.rows(CLAIM, 2, 20, "false", one) == []
    await world.later(41)
    assert len(await world.rows(CLAIM, 2, 21, "false", one)) == 1


async def test_killed_between_the_claim_and_the_settle_what_was_drawn_is_lost_and_no_more(
    world: LimitedWorld, processes: Processes
) -> None:
    world.says('[limits.hang]\nkind = "hang"\nrate = "2/hour"')
    await hang.enqueue_many(world.conn, [{}] * 3)
    child = processes.start(TICK, world.url, str(world.path))
    assert [child.line(seconds=60), child.line(seconds=60)] == ["began", "began"]
    child.kill()
    await world.later(1800)
    summary = await world.tick(hang)
    assert (summary.rescued, summary.succeeded) == (2, 1), "one token has come back; the suspects wait by their time"
    assert (
        await world.one("select count(*) from crontick.jobs where held_by = 'suspect' and run_at > crontick.now()") == 1
    )
    for _ in range(3):
        await world.later(1800)
        await world.tick(hang)
    assert await world.counts() == {"succeeded": 3}


async def test_killed_before_the_commit_of_a_claim_nothing_was_drawn(database: str, world: LimitedWorld) -> None:
    await world.rows("insert into crontick.deployments values ('', '', '{}', now(), now())")
    await hang.enqueue_many(world.conn, [{}] * 3)
    dying = await psycopg.AsyncConnection.connect(database)
    await dying.execute(OPEN, (1, SCHEMA))
    await dying.commit()
    assert len(await (await dying.execute(CLAIM, (1, 10, "false", ROW))).fetchall()) == 2
    late = await hang.enqueue(world.conn, {})
    # Another tick waits for nothing, starts nothing and holds nothing: the line is not its own to judge.
    await world.rows(OPEN, 2, SCHEMA)
    assert await world.rows(CLAIM, 2, 20, "false", ROW) == []
    assert await world.waiting() == {}
    assert await world.rows(CLOSE, 2, 20) == [(False, True)], "it asks again"
    assert await world.rows("select held_by, attempt from crontick.jobs where id = %s", late) == [(None, 0)]
    pid = dying.info.backend_pid
    await world.rows("select pg_terminate_backend(%s)", pid)
    await dying.close()
    await async_until(lambda: gone(world, pid))
    assert len(await world.rows(CLAIM, 2, 21, "false", ROW)) == 2
    assert (round(await drawn(world)), await world.waiting()) == (2, {"x": 2})


async def gone(world: LimitedWorld, pid: int) -> bool:
    return await world.rows("select from pg_stat_activity where pid = %s", pid) == []


async def test_a_claim_that_is_repeated_draws_no_second_token(world: LimitedWorld) -> None:
    await hang.enqueue_many(world.conn, [{}] * 3)
    await world.rows(OPEN, 1, SCHEMA)
    first = await world.rows(CLAIM, 1, 10, "false", ROW)
    before = await world.one("select tat from crontick.limit_lines")
    assert await world.rows(CLAIM, 1, 10, "true", ROW) == first
    assert await world.one("select tat from crontick.limit_lines") == before


async def test_a_lost_answer_draws_no_second_token(world: LimitedWorld, proxy: Proxy) -> None:
    world.says('[limits.hang]\nkind = "hang"\nrate = "4/day"')
    await world.tick(hang)
    await hang.enqueue_many(world.conn, [{}] * 3)
    proxy.lose_next_answer = True
    summary = await world.tick(hang, url=proxy.url)
    assert (summary.succeeded, summary.lost, proxy.lose_next_answer) == (3, 0, False)
    assert round(await drawn(world) / 360) == 3


@pytest.mark.parametrize(("began", "left"), [(False, 1), (True, 2)])
async def test_only_the_token_of_an_attempt_that_did_not_begin_goes_back_and_once(
    world: LimitedWorld, *, began: bool, left: int
) -> None:
    await hang.enqueue_many(world.conn, [{}] * 2)
    await world.rows(OPEN, 1, SCHEMA)
    [(job,), _] = await world.rows(CLAIM, 1, 10, "false", ROW)
    told = f'[{{"id": {job}, "claim": 10, "outcome": "handed_back", "began": {str(began).lower()}}}]'
    for _ in range(2):
        assert await world.rows(SETTLE, 1, [], [], told, ROW) == [([], [])]
    assert round(await drawn(world)) == left


async def test_a_token_that_came_back_by_itself_is_not_given_back_too(world: LimitedWorld) -> None:
    await hang.enqueue_many(world.conn, [{}] * 2)
    await world.rows(OPEN, 1, SCHEMA)
    [(job,), _] = await world.rows(CLAIM, 1, 10, "false", ROW)
    await world.later(60)
    told = f'[{{"id": {job}, "claim": 10, "outcome": "handed_back", "began": false}}]'
    await world.rows(SETTLE, 1, [], [], told, ROW)
    assert round(await drawn(world)) == 1


async def test_a_stale_settle_gives_nothing_back(world: LimitedWorld) -> None:
    await hang.enqueue_many(world.conn, [{}] * 2)
    await world.rows(OPEN, 1, SCHEMA)
    [(job,), _] = await world.rows(CLAIM, 1, 10, "false", ROW)
    told = f'[{{"id": {job}, "claim": 11, "outcome": "handed_back", "began": false}}]'
    assert await world.rows(SETTLE, 1, [], [], told, ROW) == [([job], [])]
    assert round(await drawn(world)) == 2


async def test_what_complete_ended_makes_room_though_its_tick_runs_on(world: LimitedWorld) -> None:
    @kind("pay", timeout=30, needs=0)
    async def pay(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.db() as conn, conn.transaction():
            await ctx.complete(conn)
        if payload:
            assert (await world.tick(pay)).succeeded == 1
            assert await world.counts() == {"succeeded": 2}

    world.says('[limits.pay]\nkind = "pay"\nconcurrency = 1')
    await pay.enqueue(world.conn, {"first": True})
    await pay.enqueue(world.conn, {})
    await world.tick(pay)
    assert await world.counts() == {"succeeded": 2}


async def test_a_limit_that_is_no_more_lets_its_line_go(world: LimitedWorld) -> None:
    world.says('[limits.hang]\nkind = "hang"\nrate = "1/day"')
    await hang.enqueue_many(world.conn, [{}] * 3)
    assert (await world.tick(hang)).succeeded == 1
    world.says("")
    assert (await world.tick(hang)).succeeded == 2
    assert await world.rows("select * from crontick.limit_lines") == []


async def test_a_limit_that_was_raised_is_raised_at_once(world: LimitedWorld) -> None:
    await hang.enqueue_many(world.conn, [{}] * 3)
    world.says('[limits.hang]\nkind = "hang"\nrate = "1/day"')
    assert (await world.tick(hang)).succeeded == 1
    await world.later(1)
    world.says('[limits.hang]\nkind = "hang"\nrate = "100/minute"\nburst = 1')
    for _ in range(3):
        await world.tick(hang)
        await world.later(60)
    assert await world.counts() == {"succeeded": 3}
