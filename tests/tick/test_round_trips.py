"""How often a tick and the database speak, counted on the wire."""

import psycopg
import pytest

from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.sql import SCHEMA
from tests.tick.kinds import deployment, nap, noop
from tests.worlds.proxy import Proxy

pytestmark = pytest.mark.anyio
Conn = psycopg.AsyncConnection[tuple[object, ...]]


@pytest.fixture
async def known(database: str) -> None:
    """The deployment's first tick, which makes its kinds known, has been."""
    await run_tick(deployment(database), TickRequest())


@pytest.mark.usefixtures("known")
async def test_an_idle_tick_is_one_round_trip(proxy: Proxy) -> None:
    summary = await run_tick(deployment(proxy.url), TickRequest())
    assert (summary.claimed, proxy.round_trips) == (0, 1)


async def test_the_first_tick_of_a_deployment_is_two_and_closes_once(proxy: Proxy, conn: Conn) -> None:
    await conn.execute("create table public.closes (at timestamptz)")
    await conn.execute("create function public.note_close() returns trigger language plpgsql as $$ begin"
        " insert into public.closes values (now()); return new; end $$")  # fmt: skip
    await conn.execute("create trigger closes after update of ended_at on crontick.ticks for each row"
        " execute function public.note_close()")  # fmt: skip
    summary = await run_tick(deployment(proxy.url), TickRequest())
    assert (summary.claimed, proxy.round_trips) == (0, 2)
    closes = await (await conn.execute("select count(*) from public.closes")).fetchone()
    assert closes == (1,)


@pytest.mark.usefixtures("known")
async def test_twenty_jobs_in_twenty_seats_are_two(proxy: Proxy, conn: Conn) -> None:
    await noop.enqueue_many(conn, [{}] * 20)
    summary = await run_tick(deployment(proxy.url), TickRequest())
    assert (summary.succeeded, proxy.round_trips) == (20, 2)


@pytest.mark.usefixtures("known")
async def test_a_hundred_jobs_of_one_length_in_twenty_seats_are_seven_at_most(proxy: Proxy, conn: Conn) -> None:
    await nap.enqueue_many(conn, [{"seconds": 0.1}] * 100)
    summary = await run_tick(deployment(proxy.url), TickRequest())
    assert summary.succeeded == 100
    assert proxy.round_trips <= 7


@pytest.mark.usefixtures("known")
async def test_twenty_jobs_of_uneven_length_in_twenty_seats_are_two(proxy: Proxy, conn: Conn) -> None:
    await nap.enqueue_many(conn, [{"seconds": 0.05 + 0.45 * n / 19} for n in range(20)])
    summary = await run_tick(deployment(proxy.url), TickRequest())
    assert (summary.succeeded, proxy.round_trips) == (20, 2)


@pytest.mark.usefixtures("known")
async def test_rescue_adds_none_but_the_word_that_the_alert_of_a_dead_tick_was_told(proxy: Proxy, conn: Conn) -> None:
    await noop.enqueue(conn, {})
    await conn.execute(
        f"select crontick.open_tick(1, {SCHEMA}, 'test', '', '', 25, 40, 4, false, '{{}}', '', null, '', '', '')"
    )
    taken = await conn.execute(
        "select id from crontick.claim(1, 7, 1, 0, 0, 30, '{noop}', null, null, null, null, true, false)"
    )
    assert taken.rowcount == 1
    await conn.execute("update crontick.test_clock set ahead = '1 minute'")
    summary = await run_tick(deployment(proxy.url), TickRequest())
    assert (summary.rescued, summary.succeeded, proxy.round_trips) == (1, 1, 2 + 1)
