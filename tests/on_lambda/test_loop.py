"""The handler owns its event loop, whatever the process does with others, and a cold call imports little."""

import pytest

from tests.on_lambda.world import World

SCRIPT = """
import asyncio, json, sys, threading
from tests.on_lambda import events

class Context:
    aws_request_id = "r"
    def get_remaining_time_in_millis(self):
        return 30_000

def call():
    asyncio.run(asyncio.sleep(0))
    for event in ({}, events.gateway2(), {}):
        answer = handler(event, Context())
        asyncio.run(asyncio.sleep(0))
        tasks = asyncio.all_tasks(aws._DOOR._loop.enter())
        print(answer.get("statusCode", 200), len(tasks), flush=True)

from crontick.handler import aws
from crontick.handler.aws import handler
"""
COLD = """
import sys

class Context:
    aws_request_id = "r"
    def get_remaining_time_in_millis(self):
        return 30_000

from crontick.handler.aws import handler
answer = handler({}, Context())
print(*sorted({name.partition(".")[0] for name in sys.modules} - set(sys.stdlib_module_names)))
print(answer["claimed"])
"""


@pytest.mark.parametrize("how", ["call()", "t = threading.Thread(target=call); t.start(); t.join(); call()"])
def test_it_works_after_asyncio_run_and_from_a_thread(world: World, how: str) -> None:
    child = world.processes.start(SCRIPT + how, env=world.environ())
    assert child.wait() == 0, child.errors
    assert set(child.rest()) == {"200 0"}
    assert "Warning" not in child.errors


def test_a_cold_direct_tick_imports_these_and_nothing_else(world: World) -> None:
    child = world.processes.start(COLD, env=world.environ(CRONTICK_MODULES=""))
    assert child.wait() == 0, child.errors
    *_, modules, claimed = child.rest()
    private = {name for name in modules.split() if name.startswith("_")} | {"cython_runtime"}  # the loaders' own
    assert set(modules.split()) - private == {"crontick", "msgspec", "psycopg", "psycopg_binary", "typing_extensions"}
    assert claimed == "0"
