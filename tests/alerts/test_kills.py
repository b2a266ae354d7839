"""A tick dies, or loses its database, between the start of an alert and the word that it was told."""

from collections.abc import Awaitable, Callable

import pytest

from tests.alerts.conftest import Alarmed
from tests.alerts.test_conditions import KINDS, die, doomed
from tests.worlds.http_receiver import Answer, Request
from tests.worlds.process import Processes
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio
TICK = """
import asyncio, sys
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.alerts.test_conditions import KINDS
settings = Settings(database_url=sys.argv[1], environment="test", alert_url=sys.argv[2])
asyncio.run(run_tick(load_deployment(settings, kinds=KINDS), TickRequest()))
"""


async def test_killed_while_a_channel_is_told_a_later_tick_tells_it(world: Alarmed, processes: Processes) -> None:
    world.receiver.otherwise = Answer(hang=True)
    await doomed.enqueue(world.conn, {})
    child = processes.start(TICK, world.url, world.settings["alert_url"])
    await async_until(lambda: len(world.receiver.requests) == 1)
    child.kill()
    world.receiver.otherwise = Answer()
    assert await world.active() == [("dead_letters", "")]
    await world.tick(*KINDS)
    assert len(world.heard) == 1, "the dead tick's lease holds"
    for _ in range(3):
        await world.later(100)
        await world.tick(*KINDS)
    assert [line.split(":")[0] for line in world.heard] == ["dead_letters", "dead_letters"]
    assert await world.one("select count(*) from crontick.alerts where name = 'dead_letters'") == 1


async def test_what_was_told_and_not_written_down_is_told_again_rather_than_never(world: Alarmed, proxy: Proxy) -> None:
    world.receiver.act = deafening(proxy)
    await doomed.enqueue(world.conn, {})
    await world.tick(*KINDS, url=proxy.url, budget_seconds=3)
    assert await world.counts() == {"dead": 1}
    world.receiver.act = None
    for _ in range(3):
        await world.later(100)
        await world.tick(*KINDS)
    assert [line.split(":")[0] for line in world.heard] == ["dead_letters", "dead_letters"]


async def test_an_alert_whose_closing_lost_its_answer_starts_once_and_is_told_once(
    world: Alarmed, proxy: Proxy
) -> None:
    await die(world)
    await world.rows("delete from crontick.alert_messages")
    await world.rows("delete from crontick.alerts")
    world.receiver.requests.clear()
    proxy.lose_next_answer = True
    await world.tick(*KINDS, url=proxy.url)
    assert [line.split(":")[0] for line in world.heard] == ["dead_letters"]
    assert await world.one("select count(*) from crontick.alerts") == 1


def deafening(proxy: Proxy) -> Callable[[Request], Awaitable[Answer]]:
    """Takes the alert; from then on the database hears nothing."""

    async def act(_: Request) -> Answer:
        proxy.black_hole = True
        return Answer()

    return act
