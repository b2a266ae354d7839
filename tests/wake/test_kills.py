"""A tick that dies before its alarm is set is over in the database all the same, and the next one sets it."""

from typing import Any

import pytest

from crontick.jobs import kind
from tests.wake.conftest import Waking
from tests.wake.services import Alarms
from tests.worlds.http_receiver import Answer
from tests.worlds.process import Processes
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio
HANGING = '[wake]\nprovider = "url"\nurl = "{url}/alarms"\ntimeout = 30\n'
TICK = """
import asyncio
from crontick.jobs.process import process_jobs
asyncio.run(process_jobs())
"""


@kind("note")
async def note(_: dict[str, Any]) -> None: ...


async def test_killed_while_it_asks_for_the_alarm(world: Waking, alarms: Alarms, processes: Processes) -> None:
    world.configure(HANGING.format(url=alarms.receiver.url))
    await world.tick(note)
    alarms.receiver.otherwise = Answer(hang=True)
    await world.enqueue(7000)
    child = processes.start(
        TICK,
        env={
            "CRONTICK_DATABASE_URL": world.url,
            "CRONTICK_ENVIRONMENT": "staging",
            "CRONTICK_CONFIG": str(world.config),
        },
    )
    await async_until(lambda: alarms.receiver.requests)
    child.kill()
    ended = "select ended_at is not null, stop_reason, wake_at from crontick.ticks order by id desc limit 1"
    assert await world.rows(ended) == [(True, "empty", None)]
    alarms.receiver.otherwise = Answer()
    assert (await world.tick(note)).wake_at is not None
