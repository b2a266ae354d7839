"""A Ctrl-C ends the process that runs a tick; a ``KeyboardInterrupt`` of a function's own ends its attempt only."""

import signal

import pytest

from crontick.jobs.interrupts import is_ctrl_c
from tests.faults.world import World
from tests.worlds.waiting import until

TICK = """
import asyncio, signal, sys
from typing import Any
from crontick.jobs import kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.faults.world import deployed

@kind("spin", timeout=60, needs=0)
async def spin(payload: Any) -> None:
    print("runs", flush=True)
    while True:
        pass

signal.signal(signal.SIGINT, signal.default_int_handler)  # also where whoever started the tests ignores it

async def main() -> None:
    await run_tick(deployed(sys.argv[1], [spin]), TickRequest())

if sys.argv[2] == "run":
    asyncio.run(main())
asyncio.new_event_loop().run_until_complete(main())
"""


@pytest.mark.parametrize("loop", ["run", "of its own"])
async def test_a_ctrl_c_while_a_function_runs_ends_the_process(world: World, loop: str) -> None:
    """``asyncio.run`` takes the first one for a wish, which a function that never awaits does not hear."""
    await world.conn.execute("select crontick.enqueue('spin')")
    child = world.processes.start(TICK, world.url, loop)
    assert child.line() == "runs"

    def ended() -> bool:
        child.process.send_signal(signal.SIGINT)
        return child.process.poll() is not None

    until(ended)
    assert child.wait() == -signal.SIGINT
    assert await world.value("select status from crontick.jobs") == "running"


def test_what_is_raised_by_code_is_no_ctrl_c() -> None:
    with pytest.raises(KeyboardInterrupt) as own:
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt) as real:
        signal.default_int_handler(signal.SIGINT, None)
    assert (is_ctrl_c(own.value), is_ctrl_c(real.value)) == (False, True)
    assert not is_ctrl_c(KeyboardInterrupt())
