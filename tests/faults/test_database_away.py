"""The database is down, waking, restarted, read-only: a served tick or ``Unavailable``, and nothing is lost."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import psycopg
import pytest

from crontick.handler.loopback import free_port
from crontick.jobs import Context, kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.unavailable import Unavailable
from tests.faults import doomed
from tests.faults.world import World, deployed
from tests.worlds import own_server as servers
from tests.worlds.own_server import Server


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    with servers.own_server() as server:
        yield server


def value(url: str, text: str, *values: Any) -> Any:
    with psycopg.connect(url, autocommit=True) as conn:
        row = conn.execute(text.encode(), values).fetchone()
        return row and row[0]


async def enqueue(server: Server, made: Any, payload: Any = None) -> int:
    async with await psycopg.AsyncConnection.connect(server.url, autocommit=True) as conn:
        return int(await made.enqueue(conn, payload or {}))


@contextmanager
def refusing() -> Iterator[int]:
    """A port at which nobody listens."""
    yield free_port()


@contextmanager
def silent() -> Iterator[int]:
    """A port at which every connection is accepted and none is ever read from."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.mark.parametrize("server", [refusing, silent])
async def test_down_for_the_whole_patience_is_unavailable(server: Callable[[], AbstractContextManager[int]]) -> None:
    loop = asyncio.get_running_loop()
    with server() as port:
        url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
        deployment = deployed(url, budget_seconds=1, max_budget_seconds=1)
        began = loop.time()
        with pytest.raises(Unavailable, match="out of reach, or waking") as raised:
            async with asyncio.timeout(20):
                await run_tick(deployment, TickRequest())
    assert raised.value.retry_after_seconds > 0
    assert loop.time() - began < 2


async def test_waking_within_the_patience_is_a_served_tick(own_server: Server) -> None:
    job = await enqueue(own_server, doomed.note)
    await asyncio.wrap_future(own_server.stop())
    tick = asyncio.create_task(run_tick(deployed(own_server.url), TickRequest()))
    await asyncio.wrap_future(own_server.start())
    summary = await tick
    assert (summary.claimed, summary.succeeded) == (1, 1)
    assert value(own_server.url, "select count(*) from ran where job = %s", job) == 1


async def test_restarted_between_send_and_settle_it_leaves_no_doubt(own_server: Server) -> None:
    @kind("sent", marker="key", timeout=60, needs=0)
    async def sent(payload: dict[str, str], ctx: Context) -> None:
        async with ctx.once() as mark:
            mark.provider, mark.message_id = "smtp", "<7@here>"
        await own_server.restart()

    job = await enqueue(own_server, sent, {"key": "order 7"})
    summary = await run_tick(deployed(own_server.url, [sent]), TickRequest())
    assert (summary.succeeded, summary.lost) == (1, 0)
    told = "select state || ' ' || provider_message_id from crontick.markers where job = %s"
    assert value(own_server.url, told, job) == "sent <7@here>"


async def test_restarted_in_mid_tick_no_job_is_run_twice(own_server: Server) -> None:
    before = value(own_server.url, "select count(*) from ran")

    @kind("counted", timeout=60, needs=0)
    async def counted(payload: dict[str, Any], ctx: Context) -> None:
        ran.append(ctx.job.id)
        if payload.get("restart"):
            await own_server.restart()

    ran: list[int] = []
    for nth in range(12):
        await enqueue(own_server, counted, {"restart": nth == 5})
    summary = await run_tick(deployed(own_server.url, [counted], concurrency=3), TickRequest())
    assert (summary.claimed, summary.succeeded, summary.lost) == (12, 12, 0)
    assert len(ran) == len(set(ran)) == 12
    assert value(own_server.url, "select count(*) from ran") == before


async def test_gone_after_a_function_ran_it_is_not_said_that_nothing_ran(own_server: Server) -> None:
    stopped: list[int] = []

    @kind("stops", timeout=60, needs=0)
    async def stops(payload: Any, ctx: Context) -> None:
        await asyncio.wrap_future(own_server.stop())
        stopped.append(ctx.job.id)

    job = await enqueue(own_server, stops)
    try:
        with pytest.raises(Unavailable) as raised:
            await run_tick(deployed(own_server.url, [stops]), TickRequest(budget_seconds=3))
        assert stopped == [job]
        assert raised.value.sentence.endswith("; the jobs that ran are settled or retried")
        with pytest.raises(Unavailable) as raised:
            await run_tick(deployed(own_server.url, [stops]), TickRequest(budget_seconds=1))
        assert raised.value.sentence.endswith("; nothing ran and nothing was lost")
    finally:
        await asyncio.wrap_future(own_server.start())


@contextmanager
def read_only(world: World) -> Iterator[None]:
    """As after a failover to a standby."""
    name = "(select format('alter database %I', current_database()))"
    with psycopg.connect(world.url, autocommit=True) as conn:
        row = conn.execute(f"select {name}".encode()).fetchone()
        assert row is not None
        conn.execute(f"{row[0]} set default_transaction_read_only = on".encode())
        try:
            yield
        finally:
            conn.execute(b"set transaction_read_only = off")
            conn.execute(f"{row[0]} reset default_transaction_read_only".encode())


async def test_read_only_is_unavailable_and_then_works_again(world: World) -> None:
    world.settings = {"keep_connection_seconds": 60}
    job = await world.enqueue(doomed.note)
    with read_only(world), pytest.raises(Unavailable, match="read-only"):
        await world.tick()
    assert (await world.tick()).succeeded == 1
    assert await world.runs(job) == 1


async def test_a_wrong_password_is_told_at_once_and_without_it(world: World) -> None:
    url = world.url.replace("postgres@", "nobody:hunter2@")
    loop = asyncio.get_running_loop()
    began = loop.time()
    with pytest.raises(Unavailable) as raised:
        await world.tick(url)
    assert "hunter2" not in str(raised.value)
    assert loop.time() - began < 1
