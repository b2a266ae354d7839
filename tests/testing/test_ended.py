"""A function that ends the test's own transaction is told so, and the test's connection can be used again."""

from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from crontick.jobs import Context, Kind, kind
from crontick.jobs.testing import drain
from tests.testing.kinds import Number

ENDED = (
    r"the function committed or rolled back the test's transaction.*use commit\(\) and rollback\(\) of the connection"
)


@kind("commits_by_statement")
def commits(payload: Number, ctx: Context) -> None:
    with ctx.db() as conn:
        conn.execute("commit")


@kind("rolls_back_by_statement")
def rolls_back(payload: Number, ctx: Context) -> None:
    with ctx.db() as conn:
        conn.execute("rollback")


@kind("commits_async")
async def commits_async(payload: Number, ctx: Context) -> None:
    async with ctx.db() as conn:
        await conn.execute("commit")


@pytest.mark.parametrize("ends", [commits, rolls_back, commits_async], ids=lambda made: made.name)
def test_by_a_statement(database: str, ends: Kind[Number]) -> None:
    with psycopg.connect(database) as conn:
        ends.enqueue(conn, Number())
        with pytest.raises(RuntimeError, match=ENDED):
            drain(conn, kinds=[ends])
        assert conn.execute("select 7").fetchone() == (7,)


@pytest.mark.parametrize("how", ["commit", "rollback"])
def test_by_the_test_s_own_connection(database: str, how: str) -> None:
    with psycopg.connect(database) as conn:

        @kind("ends")
        def ends(payload: Number) -> None:
            getattr(conn, how)()

        ends.enqueue(conn, Number())
        with pytest.raises(RuntimeError, match=ENDED):
            drain(conn, kinds=[ends])
        assert conn.execute("select 7").fetchone() == (7,)


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
def test_by_a_connection_of_sqlalchemy(database: str, driver: str) -> None:
    engine = sa.create_engine(database.replace("postgresql://", f"postgresql+{driver}://"))
    with engine.connect() as conn:

        @kind("ends")
        def ends(payload: Number) -> None:
            conn.commit()

        ends.enqueue(conn, Number())
        with pytest.raises(RuntimeError, match=ENDED):
            drain(conn, kinds=[ends])
        assert conn.scalar(sa.text("select 7")) == 7
    engine.dispose()


async def test_on_an_async_connection(open_async: psycopg.AsyncConnection[Any]) -> None:
    await commits_async.enqueue(open_async, Number())
    with pytest.raises(RuntimeError, match=ENDED):
        await drain(open_async, kinds=[commits_async])
    assert await (await open_async.execute("select 7")).fetchone() == (7,)


def test_one_in_autocommit_mode(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("begin")
        commits.enqueue(conn, Number())
        with pytest.raises(RuntimeError, match=ENDED):
            drain(conn, kinds=[commits])
        assert conn.execute("select 7").fetchone() == (7,)
