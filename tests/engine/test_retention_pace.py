"""How much of a tick retention takes: a small share, a larger one while rows are behind, never the tick (P28)."""

import re
from typing import Any

import psycopg
import pytest

from crontick.jobs import kind
from tests.engine.conftest import World

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("world", ["direct"], indirect=True)]
OLD = """
with old as (
    insert into crontick.finished_jobs
        (id, run_at, created_at, finished_at, priority, attempt, kind, queue, status, payload)
    select -n, now(), now(), now() - interval '9 days' + n * interval '1 s', 0, 1, 'any', 'default', %s, '{}'
    from generate_series(%s::bigint, %s::bigint) as n
    returning id, finished_at, status
)
insert into crontick.successes (ended_at, job_ids)
select max(finished_at), array_agg(id) from old where status = 'succeeded' group by id / 200
"""
SLOW = """
create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep({seconds}); return old; end $$;
create trigger slow before delete on crontick.finished_jobs for each row execute function slow();
"""
STATE = "select prune_batch, behind_since is not null, prune_error, pruned_at > '-infinity' from crontick.installation"
BEHIND = "update crontick.installation set prune_batch = %s, pruned_at = '-infinity'"


@kind("any")
async def anything(payload: Any) -> None:
    """Nothing."""


async def old(world: World, jobs: int, *, status: str = "succeeded") -> None:
    """So many finished jobs whose time is over, found behind by the next tick."""
    await world.tick(anything)
    await world.rows(OLD, status, 1, jobs)
    await world.rows(BEHIND, 10)


async def left(world: World) -> int:
    return int(await world.one("select count(*) from crontick.finished_jobs"))


async def test_what_is_little_goes_at_once_and_is_looked_at_every_ten_minutes(world: World) -> None:
    await old(world, 30)
    await world.tick(anything)
    assert await left(world) == 0
    await world.rows(OLD, "succeeded", 1, 1)
    await world.tick(anything)
    assert await left(world) == 1
    await world.later(601)
    await world.tick(anything)
    assert await left(world) == 0


async def test_a_batch_that_is_quick_grows(world: World) -> None:
    await old(world, 3000)
    for _ in range(20):
        await world.tick(anything)
        if not await left(world):
            break
    [(batch, behind, error, _)] = await world.rows(STATE)
    assert (await left(world), behind, error) == (0, False, None)
    assert batch > 10


async def test_a_tick_takes_a_small_share_and_a_larger_one_once_it_is_behind(world: World) -> None:
    await old(world, 500)
    await world.rows(SLOW.format(seconds=0.02))  # a row each 20 ms at best: ten of them are the 2 % of 10 s
    await world.tick(anything, budget_seconds=10)
    gone = 500 - await left(world)
    assert gone == 10
    assert await world.rows(STATE) == [(10, True, None, False)]
    await world.tick(anything, budget_seconds=10)
    assert gone + 10 < 500 - await left(world) <= gone + 100


async def test_an_idle_tick_is_silent_for_two_seconds_at_most(world: World) -> None:
    world.settings = {"max_budget_seconds": 60}
    await old(world, 500)
    await world.rows(SLOW.format(seconds=0.02))
    await world.rows("update crontick.installation set behind_since = crontick.now()")
    await world.tick(anything, budget_seconds=60)
    assert 500 - await left(world) <= 110, (
        "2 s of rows that take 20 ms each, not the 12 s that are a fifth of the budget"
    )


async def test_a_batch_that_is_slow_shrinks_to_its_least(world: World) -> None:
    await old(world, 50)
    await world.rows(BEHIND, 40)
    await world.rows(SLOW.format(seconds=0.02))
    await world.tick(anything, budget_seconds=10)
    assert await world.one("select prune_batch from crontick.installation") == 20


async def test_a_prune_that_runs_into_the_statement_time_out_leaves_its_tick_and_comes_back_smaller(
    world: World,
) -> None:
    await old(world, 50)
    await world.rows(BEHIND, 40)
    await world.rows(SLOW.format(seconds=60))
    async with world.conn.transaction():
        await world.rows("set local statement_timeout = '300ms'")
        await world.rows("select crontick.retain((select max(opening) from crontick.ticks), '{1,1,1}', crontick.now())")
    [(batch, behind, error, pruned)] = await world.rows(STATE)
    assert (await left(world), batch, behind, pruned) == (50, 10, True, False)
    assert error.startswith("57014: ")


async def test_a_tick_ends_well_though_the_database_refuses_to_delete(world: World) -> None:
    await old(world, 5)
    await world.rows("create table mine (job bigint references crontick.finished_jobs)")
    await world.rows("insert into mine values (-3)")
    job = await anything.enqueue(world.conn, {})
    summary = await world.tick(anything)
    assert (summary.stop_reason, summary.succeeded, await world.status(job)) == ("empty", 1, ["succeeded"])
    [(_, behind, error, _)] = await world.rows(STATE)
    assert (behind, error[:7]) == (True, "23503: ")
    await world.rows("drop table mine")
    await world.tick(anything)
    assert await world.rows("select id from crontick.finished_jobs") == [(job,)]
    assert await world.one("select prune_error from crontick.installation") is None


async def test_a_row_that_somebody_holds_is_left_for_a_later_tick(world: World, database: str) -> None:
    await old(world, 5)
    async with await psycopg.AsyncConnection.connect(database) as holder:
        await holder.execute("select from crontick.finished_jobs where id = -2 for update")
        await world.tick(anything)
        assert await world.rows("select id from crontick.finished_jobs") == [(-2,)]
    await world.later(601)
    await world.tick(anything)
    assert await left(world) == 0


async def test_one_tick_prunes_at_a_time_and_the_other_closes_beside_it(world: World, database: str) -> None:
    await old(world, 5)
    async with await psycopg.AsyncConnection.connect(database) as other:
        await other.execute(
            "select crontick.retain((select max(opening) from crontick.ticks), '{1,1,1}', crontick.now())"
        )
        summary = await world.tick(anything)
        assert summary.stop_reason == "empty"
        assert await left(world) == 5


async def test_what_it_touches_does_not_grow_with_what_is_kept(world: World) -> None:
    """Pages that were emptied and filled again; dead ones that nobody resolved, or not long ago."""
    await world.rows(OLD, "succeeded", 1, 20_000)
    await world.rows("update crontick.finished_jobs set status = 'dead' where id % 20 = 0")
    await world.rows("update crontick.finished_jobs set resolution = 'ignored' where id % 40 = 0")
    await world.rows("delete from crontick.finished_jobs where status <> 'dead'")
    await world.rows("delete from crontick.successes")
    await world.rows("vacuum crontick.finished_jobs")
    await world.rows(OLD.replace("9 days", "1 day"), "succeeded", 20_001, 40_000)
    await world.rows(OLD, "succeeded", 40_001, 40_010)
    await world.rows("vacuum (analyze) crontick.finished_jobs")
    whole = await world.one("select pg_relation_size('crontick.finished_jobs') / 8192")
    ask = "explain (analyze, buffers) select * from crontick.prune('{604800,7776000,2592000}', crontick.now(), 100)"
    for _ in range(2):  # a new backend reads its catalogues first
        plan = "\n".join(row[0] for row in await world.rows(ask))
    touched = sum(map(int, re.findall(r"(?:hit|read)=(\d+)", plan.split("Planning")[0])))
    assert await world.one("select count(*) from crontick.finished_jobs where id < -40000") == 0
    assert touched < min(200, whole / 2)
