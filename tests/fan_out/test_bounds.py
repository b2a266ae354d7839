"""How many ticks may be asked for: the caps are in the database, and no killed tick leaves them wrong (P11, P42)."""

import asyncio
import json
import secrets
from contextlib import AsyncExitStack

import psycopg

from crontick.sql import SCHEMA, query
from tests.fan_out.conftest import TOKEN, World
from tests.worlds.http_receiver import Answer
from tests.worlds.process import Processes
from tests.worlds.waiting import async_until

ASK = "select crontick.ask_ticks(%s, %s, true, null, %s, crontick.now())"
OPENING = {
    "schema": SCHEMA,
    "environment": "test",
    "version": "0",
    "deployment": "0",
    "budget_seconds": 30.0,
    "lease_seconds": 60.0,
    "max_parallel": 60,
    "paused": False,
    "known": ["nothing"],
    "trigger": "test",
    "scheduled_for": None,
    "token": None,
    "host": None,
    "host_request_id": None,
}


async def fifty_asks(world: World, **caps: int) -> int:
    """Fifty ticks run, and all of them ask at once, again and again until nobody is granted one."""
    wish = json.dumps({"limit": 10, "in_time": None, "max_parallel": 60, "kinds": ["nothing"], **caps})
    async with AsyncExitStack() as stack:
        connecting = (psycopg.AsyncConnection.connect(world.url, autocommit=True) for _ in range(50))
        conns = [await stack.enter_async_context(await conn) for conn in connecting]
        for nth, conn in enumerate(conns):
            await conn.execute(query("open_tick").text.encode(), {**OPENING, "opening": nth})

        async def ask(nth: int) -> int:
            async with conns[nth].transaction():
                granted = await (await conns[nth].execute(ASK, (nth, secrets.randbits(63), wish))).fetchone()
                await all_have_asked.wait()
            return int(granted[0]) if granted else 0

        all_have_asked = asyncio.Barrier(50)  # before the first of them commits
        asked = []
        while sum(told := await asyncio.gather(*map(ask, range(50)))):
            asked += told
            assert sum(asked) <= 50
        return sum(asked)


async def test_fifty_that_ask_at_once_keep_to_the_caps(world: World) -> None:
    await world.enqueue(600)
    assert await fifty_asks(world, max_per_hour=7) == 7
    await world.later("14 seconds")
    assert await world.one("select count(*) from crontick.ticks where asked > 0") in range(4, 8)
    await world.later("59 minutes")
    assert await fifty_asks(world, max_per_hour=7) == 0  # each asks once
    await world.later("2 hours")
    await world.conn.execute("delete from crontick.ticks")
    assert await fifty_asks(world, max_per_hour=1000) == 10  # sixty may run, and fifty do


async def test_an_answer_that_was_lost_is_given_again_and_no_other(world: World) -> None:
    await world.enqueue(600)
    await world.conn.execute(query("open_tick").text.encode(), {**OPENING, "opening": 1})
    wish = json.dumps({"limit": 10, "in_time": None, "max_parallel": 60, "max_per_hour": 60, "kinds": ["nothing"]})
    told = [await (await world.conn.execute(ASK, (1, claim, wish))).fetchone() for claim in (8, 8, 9)]
    assert told == [(2,), (2,), (0,)]
    assert await world.one("select sum(asked) from crontick.ticks") == 2


ASKER = """
import asyncio, os
from crontick.jobs import kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings

@kind("nothing")
async def nothing(payload: dict[str, int]) -> None:
    await asyncio.Event().wait()

asyncio.run(run_tick(load_deployment(Settings.from_environ(os.environ), kinds=[nothing]), TickRequest(limit=10)))
"""


async def test_an_asker_that_is_killed_blocks_nobody(world: World, processes: Processes) -> None:
    world.receiver.otherwise = Answer(hang=True)
    world.settings = {"max_parallel_ticks": 3}
    world.fan_out = {"max_per_hour": 3}
    world.deployment()
    await world.enqueue(40)
    asker = processes.start(
        ASKER,
        env={
            "CRONTICK_DATABASE_URL": world.url,
            "CRONTICK_ENVIRONMENT": "test",
            "CRONTICK_CONFIG": str(world.config),
            "CRONTICK_PUBLIC_URL": world.receiver.url,
            "CRON_SECRET": TOKEN,
        },
    )
    await async_until(lambda: len(world.receiver.requests) == 2)
    asker.kill()

    async def tick(limit: int) -> int:
        return (await world.tick(limit=limit)).asked

    assert await tick(5) == 0  # the room is theirs who were asked for, as long as they may come
    await world.later("20 seconds")
    assert await tick(5) == 1  # the hour has one left
    assert await tick(5) == 0
    await world.later("1 hour")
    assert await tick(5) == 2
    await tick(1000)
    await tick(1000)
    assert await world.unfinished() == 0
