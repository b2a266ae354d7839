"""A tick leaves nothing in its session and holds nothing open while functions run, for poolers and migrations."""

import asyncio
from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.process import _KEEPER
from crontick.sql import SCHEMA
from tests.engine.conftest import World
from tests.engine.test_markers import mailing

pytestmark = pytest.mark.anyio
LEFT_BEHIND = {
    "settings": "select name from pg_settings where source = 'session'",
    "prepared statements": "select name from pg_prepared_statements",
    "channels": "select pg_listening_channels()",
    "locks": "select objid::text from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()",
    "temporary tables": "select relname from pg_class where relpersistence = 't'",
    "cursors": "select name from pg_cursors where name <> ''",
}


@pytest.mark.parametrize("world", ["direct"], indirect=True)  # PgBouncer makes settings of its own
async def test_a_session_is_left_as_it_was_found(world: World) -> None:
    @kind("fail")
    async def fail(payload: Any) -> None:
        raise ValueError

    world.settings = {"keep_connection_seconds": 60}
    await world.tick(fail)
    await fail.enqueue_many(world.conn, [{}] * 3, group_key="g")
    assert (await world.tick(fail)).failed == 1
    kept = _KEEPER.take(world.url)
    assert kept is not None
    async with kept:
        found = {what: await (await kept.execute(asked.encode())).fetchall() for what, asked in LEFT_BEHIND.items()}
    assert [what for what, rows in found.items() if rows] == []


async def test_no_transaction_is_open_while_a_function_runs_and_ddl_gets_its_lock(world: World) -> None:
    open_ones = (
        "select count(*) from pg_stat_activity"
        " where xact_start is not null and pid <> pg_backend_pid() and datname = current_database()"
    )
    seen: list[int] = []

    @kind("slow", marker="key")
    async def slow(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once():
            seen.append(await world.one(open_ones))
            async with await psycopg.AsyncConnection.connect(world.url) as owner:
                await owner.execute("set local lock_timeout = '2s'")
                for table in ("unfinished_jobs", "finished_jobs", "markers", "ticks", "claims", "unique_keys"):
                    await owner.execute(f"alter table crontick.{table} add column extra int".encode())
                await owner.rollback()

    job = await slow.enqueue(world.conn, {"key": "k"}, unique_key="u", group_key="g")
    await world.tick(slow)
    assert (seen, await world.status(job)) == ([0], ["succeeded"])


async def test_two_ticks_through_a_pooler_in_transaction_mode_send_nothing_twice(world: World, pgbouncer: str) -> None:
    sent: list[Any] = []
    mail = mailing(sent)
    await mail.enqueue_many(world.conn, [{"key": str(n)} for n in range(60)])
    await asyncio.gather(*[world.tick(mail, url=pgbouncer) for _ in range(2)])
    assert sorted(sent, key=int) == [str(n) for n in range(60)]
    assert await world.counts() == {"succeeded": 60}


async def test_two_triggers_in_the_same_second_for_an_hour_run_nothing_twice(world: World) -> None:
    ran: list[int] = []

    @kind("note")
    async def note(payload: Any, ctx: Context) -> None:
        ran.append(ctx.job.id)

    jobs: list[int] = []
    for minute in range(60):
        jobs += await note.enqueue_many(world.conn, [{}] * 3)
        jobs.append(await note.enqueue(world.conn, {}, group_key="g", unique_key=f"minute {minute}"))
        both = await asyncio.gather(*[world.tick(note, trigger=name) for name in ("old", "new")])
        assert [summary.errors for summary in both] == [[], []]
        await world.later(60)
    await world.tick(note)
    assert sorted(ran) == sorted(jobs)


async def test_a_rescue_that_was_broken_off_is_made_by_the_next_tick(world: World) -> None:
    @kind("note")
    async def note(payload: Any) -> None: ...

    job = await note.enqueue(world.conn, {})
    opening = "select crontick.open_tick(%s, %s, 'test', '', '', 25, 40, 4, false, '{note}', '', null, '', '', '')"
    await world.rows(opening, 5, SCHEMA)
    await world.rows("select crontick.claim(5, 7, 1, 0, 0, 40, '{note}', null, null, null, null, true, false)")
    await world.later(60)
    async with await psycopg.AsyncConnection.connect(world.url) as broken:
        await broken.execute(opening.encode(), (6, SCHEMA))
        assert (await (await broken.execute("select rescued from crontick.ticks where opening = 6")).fetchone()) == (1,)
        await broken.rollback()
    summary = await world.tick(note)
    assert (summary.rescued, await world.status(job), (await world.job(job))["attempt"]) == (1, ["succeeded"], 2)
