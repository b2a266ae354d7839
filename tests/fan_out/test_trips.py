"""Asking costs no trip to the database, and a lost answer asks nobody twice (P1)."""

import socket

from tests.fan_out.conftest import World
from tests.worlds.proxy import Proxy


async def test_a_tick_that_asks_makes_no_trip_more_and_a_lost_answer_asks_nobody_twice(
    world: World, proxy: Proxy
) -> None:
    await world.tick()  # makes the kinds known
    world.url = proxy.url
    await world.enqueue(60)
    summary = await world.tick(limit=10)
    assert (summary.asked, proxy.round_trips) == (2, 2)
    proxy.lose_next_answer = True
    await world.later("1 minute")
    summary = await world.tick(limit=10)
    assert (summary.asked, summary.succeeded) == (2, 10)
    assert len(world.receiver.requests) == 4
    assert await world.one("select sum(asked) from crontick.ticks") == 4


async def test_a_host_that_takes_no_connection_holds_no_tick_up(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full:
        waiting = [socket.socket() for _ in range(8)]
        for one in waiting:
            one.settimeout(0)
            one.connect_ex(full.getsockname())
        world.settings = {"public_url": f"http://127.0.0.1:{full.getsockname()[1]}"}
        await world.enqueue(30)
        summary = await world.tick(limit=10, budget_seconds=2)
        for one in waiting:
            one.close()
    assert (summary.asked, summary.succeeded) == (0, 10)
    assert any("no other tick could be asked for" in warning for warning in summary.warnings)
