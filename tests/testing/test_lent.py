"""``ctx.db()`` in a drain is the test's own connection, where commit and rollback reach back to a savepoint only."""

from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from crontick.jobs import Context, kind
from crontick.jobs.testing import clock, drain
from tests.testing.kinds import Number

INSERT = "insert into written (value) values (%s)"


@kind("commits")
def commits(payload: Number, ctx: Context) -> None:
    with ctx.db() as conn:
        conn.execute(INSERT, (1,))
        conn.commit()
        conn.execute(INSERT, (2,))
        conn.rollback()
        conn.execute(INSERT, (3,))


@kind("fails_after_a_commit")
def fails_after_a_commit(payload: Number, ctx: Context) -> None:
    with ctx.db() as conn:
        conn.execute(INSERT, (1,))
        conn.commit()
        conn.execute(INSERT, (2,))
        raise ValueError


@kind("breaks_after_a_commit")
def breaks_after_a_commit(payload: Number, ctx: Context) -> None:
    with ctx.db() as conn:
        conn.execute(INSERT, (1,))
        conn.commit()
        conn.execute(INSERT, ("no number",))


@kind("fails_after_a_statement")
async def fails_after_a_statement(payload: Number, ctx: Context) -> None:
    async with ctx.db() as conn:
        await conn.execute(INSERT, (1,))  # committed in life: an async function is lent autocommit
        async with conn.transaction():
            await conn.execute(INSERT, (2,))
            raise ValueError


@kind("closes")
async def closes(payload: Number, ctx: Context) -> None:
    async with ctx.db() as conn:
        await conn.commit()
        await conn.rollback()
        await conn.close()


@kind("reads")
def reads(payload: Number, ctx: Context) -> Any:
    with ctx.db() as conn:
        return conn.execute("select 1, 2").fetchone()


@kind("completes_then_fails")
async def completes_then_fails(payload: Number, ctx: Context) -> None:
    async with ctx.db() as conn, conn.transaction():
        await conn.execute(INSERT, (1,))
        await ctx.complete(conn)
        raise ValueError


@pytest.mark.parametrize(
    ("each", "status", "written"),
    [
        (commits, "succeeded", [1, 3]),
        (fails_after_a_commit, "failed", [1]),
        (breaks_after_a_commit, "failed", [1]),
        (fails_after_a_statement, "failed", [1]),
        (closes, "succeeded", []),
        (completes_then_fails, "failed", []),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_what_a_function_leaves_is_what_it_leaves_in_life(
    open_conn: psycopg.Connection[Any], each: Any, status: str, written: list[int]
) -> None:
    job = each.enqueue(open_conn, Number())
    drain(open_conn, kinds=[each])
    assert open_conn.execute("select status from crontick.jobs where id = %s", (job,)).fetchone() == (status,)
    assert [value for (value,) in open_conn.execute("select value from written order by 1")] == written


def test_it_is_lent_with_the_defaults_of_life(database: str) -> None:
    with psycopg.connect(database, row_factory=dict_row) as conn:
        job = reads.enqueue(conn, Number())
        drain(conn, kinds=[reads])
        found = conn.execute("select result from crontick.jobs where id = %s", (job,)).fetchone()
        assert found == {"result": [1, 2]}
        conn.rollback()


def test_the_handlers_of_the_connection_are_as_before(open_conn: psycopg.Connection[Any]) -> None:
    said: list[str | None] = []
    open_conn.add_notice_handler(lambda diagnostic: said.append(diagnostic.message_primary))
    commits.enqueue(open_conn, Number())
    drain(open_conn, kinds=[commits])
    open_conn.execute("do $$ begin raise notice 'heard'; end $$")
    assert said[-1] == "heard"


def test_what_was_sent_stays_sent_when_the_function_rolls_back_around_it(open_conn: psycopg.Connection[Any]) -> None:
    sent: list[str] = []

    @kind("sends_then_fails", backoff=[60])
    async def sends_then_fails(payload: Number, ctx: Context) -> None:
        async with ctx.db() as conn, conn.transaction():
            async with ctx.once("one") as mark:
                if mark.sent:
                    return
                sent.append("it")
            raise ValueError

    sends_then_fails.enqueue(open_conn, Number())
    assert drain(open_conn, kinds=[sends_then_fails]).failed == 1
    clock(open_conn).advance(minutes=2)
    assert drain(open_conn, kinds=[sends_then_fails]).succeeded == 1
    assert sent == ["it"]
