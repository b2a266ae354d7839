"""A function completes its job, and enqueues others, in a transaction of whatever library it works with."""

from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, Kind, kind
from tests.engine.conftest import World
from tests.enqueue.transactions import LIBRARIES, open_transaction

pytestmark = pytest.mark.anyio


@kind("thank")
async def thank(payload: Any) -> None: ...


def paying(library: str, url: str, *, commits: bool) -> Kind[Any]:
    """A kind that completes its job and enqueues another, and commits both or neither."""

    @kind("pay")
    def pay(payload: Any, ctx: Context) -> None:
        with open_transaction(library, url) as begun:
            assert begun.wait(ctx.complete(begun.conn, {"paid": payload["cents"]})) is None
            begun.wait(ctx.enqueue(thank, payload, conn=begun.conn))
            begun.wait(begun.commit() if commits else begun.rollback())

    return pay


@pytest.mark.parametrize("library", LIBRARIES)
async def test_complete_and_enqueue_commit_with_the_function_s_own_work(
    database: str, conn: psycopg.AsyncConnection[Any], library: str
) -> None:
    world, pay = World(database, conn), paying(library, database, commits=True)
    job = await pay.enqueue(conn, {"cents": 500})
    await world.tick(pay)
    assert (await world.job(job))["result"] == {"paid": 500}
    assert await world.rows("select kind, status from crontick.jobs order by id") == [
        ("pay", "succeeded"),
        ("thank", "queued"),
    ]


@pytest.mark.parametrize("library", LIBRARIES)
async def test_rolled_back_the_attempt_has_failed_and_enqueued_nothing(
    database: str, conn: psycopg.AsyncConnection[Any], library: str
) -> None:
    world, pay = World(database, conn), paying(library, database, commits=False)
    job = await pay.enqueue(conn, {"cents": 500})
    await world.tick(pay)
    assert "complete was not committed" in (await world.job(job))["last_error"]
    assert await world.counts() == {"failed": 1}
