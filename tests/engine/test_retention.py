"""Retention: what is old goes, a bounded share at a time; what somebody still needs never does (P28)."""

from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, Permanent, kind
from crontick.sql import SCHEMA
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio
DAY = 86400


@kind("any", max_attempts=1)
async def anything(payload: Any) -> None:
    if payload == "die":
        raise Permanent("no")


async def test_what_succeeded_goes_after_a_week_and_not_before(world: World) -> None:
    await anything.enqueue(world.conn, {})
    await world.tick(anything)
    await world.later(7 * DAY - 60)
    await world.tick(anything)
    assert await world.counts() == {"succeeded": 1}
    await world.later(3600)
    await world.tick(anything)
    assert await world.counts() == {}


@kind("told")
async def told(payload: str, ctx: Context) -> Any:
    """Succeeds in each of the ways there are."""
    if payload == "complete":
        async with ctx.db() as conn:
            await ctx.complete(conn, 1)
            await conn.commit()
    return 1 if payload == "result" else None


async def test_however_a_job_succeeded_it_goes_with_those_of_its_time(world: World) -> None:
    await told.enqueue_many(world.conn, ["plain", "result", "complete"])
    await world.tick(told)
    assert await world.counts() == {"succeeded": 3}
    await world.later(8 * DAY)
    await world.tick(told)
    assert await world.counts() == {}
    assert await world.one("select count(*) from crontick.successes") == 0


async def test_what_somebody_holds_goes_later(world: World) -> None:
    held, *_ = await told.enqueue_many(world.conn, ["plain"] * 3)
    await world.tick(told)
    await world.later(8 * DAY)
    async with await psycopg.AsyncConnection.connect(world.url) as other:
        await other.execute("select from crontick.finished_jobs where id = %s for update", (held,))
        await world.tick(told)
        assert await world.rows("select id from crontick.jobs") == [(held,)]
    await world.later(601)
    await world.tick(told)
    assert await world.counts() == {}


async def test_a_dead_job_goes_ninety_days_after_somebody_resolved_it_and_an_unresolved_one_never(world: World) -> None:
    resolved, waiting = [await anything.enqueue(world.conn, "die") for _ in range(2)]
    await world.tick(anything)
    await world.rows("select crontick.ignore(%s, 'ann', 'known')", resolved)
    await world.later(89 * DAY)
    await world.tick(anything)
    assert await world.status(resolved, waiting) == ["dead", "dead"]
    await world.later(2 * DAY)
    await world.tick(anything)
    assert await world.rows("select id from crontick.jobs") == [(waiting,)]
    await world.later(1000 * DAY)
    await world.tick(anything)
    assert await world.rows("select id from crontick.jobs") == [(waiting,)]


async def test_pending_work_and_markers_of_which_nobody_knows_are_never_touched(world: World) -> None:
    job = await world.one("select crontick.enqueue('tomorrow')")
    await world.rows(
        "insert into crontick.markers select 'any', sha256(s::bytea), s, s, 1, 1, crontick.now(), crontick.now()"
        " from unnest(array['reserved', 'sent', 'in_doubt']) as s"
    )
    await world.tick(anything)
    await world.later(1000 * DAY)
    await world.tick(anything)
    assert await world.status(job) == ["queued"]
    assert await world.rows("select state from crontick.markers order by 1") == [("in_doubt",), ("reserved",)]


async def test_ticks_go_after_a_month_and_attempts_keys_and_records_at_their_own_time(world: World) -> None:
    await anything.enqueue(world.conn, "die", unique_key="k", unique_for="24 hours")
    await world.rows("insert into crontick.reminder_records values ('day', '', now(), '1', null, crontick.now())")
    await world.tick(anything)
    await world.rows("select crontick.pause('queue', 'default', 'ann')")
    counts = (
        "select (select count(*) from crontick.ticks), (select count(*) from crontick.unique_keys),"
        " (select count(*) from crontick.attempts), (select count(*) from crontick.reminder_records),"
        " (select count(*) from crontick.audit)"
    )
    assert await world.rows(counts) == [(1, 1, 1, 1, 1)]
    await world.later(31 * DAY)
    await world.tick(anything)
    assert await world.rows(counts) == [(1, 0, 1, 1, 1)]
    await world.later(400 * DAY)
    await world.tick(anything)
    assert await world.rows(counts) == [(1, 0, 0, 0, 0)]


async def test_rescue_needs_no_row_that_retention_removes(world: World) -> None:
    job = await anything.enqueue(world.conn, {})
    await world.rows(
        f"select crontick.open_tick(5, {SCHEMA}, 'test', '', '', 25, 40, 4, false, array['any'], '', null, '', '', '')"
    )
    await world.rows("select crontick.claim(5, 7, 1, 0, 0, 40, '{any}', null, null, null, null, true, false)")
    await world.later(60)
    await world.rows("select crontick.prune('{0,0,0}', crontick.now() + interval '1 day')")
    assert await world.one("select count(*) from crontick.ticks") == 0
    summary = await world.tick(anything)
    assert (summary.rescued, await world.status(job)) == (1, ["succeeded"])
