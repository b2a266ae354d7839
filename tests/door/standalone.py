"""A process of the standalone door, with a stand-in for the engine that behaves as the first argument says."""

import asyncio
import sys
import threading
import time

import uvicorn

from crontick.handler import logs
from crontick.handler.app import create_app
from crontick.handler.shutdown import retire
from crontick.jobs.caller import Caller
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary
from tests.door.serving import TOKEN


async def until_stopped(request: TickRequest, caller: Caller, stop: Stop) -> Summary:
    print("begun", flush=True)
    while not stop.asked:  # noqa: ASYNC110 (asked by a signal)
        await asyncio.sleep(0.005)
    return Summary(trigger=caller.trigger, stop_reason="shutdown")


async def blocks(request: TickRequest, caller: Caller, stop: Stop) -> Summary:
    print("begun", flush=True)
    time.sleep(600)  # noqa: ASYNC251 (a function that never lets the loop turn)
    return Summary(trigger=caller.trigger)


async def leaves_a_thread(request: TickRequest, caller: Caller, stop: Stop) -> Summary:
    threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
    return Summary(trigger=caller.trigger, retire=True)


async def fails(request: TickRequest, caller: Caller, stop: Stop) -> Summary:
    raise RuntimeError("the password is hunter2")


async def is_ready() -> None:
    return


RUNS = {"until_stopped": until_stopped, "blocks": blocks, "leaves_a_thread": leaves_a_thread, "fails": fails}

if __name__ == "__main__":
    logs.configure(lambda text: text.replace("hunter2", "[secret]"))
    settings = Settings(cron_secrets=(TOKEN,), budget_seconds=1, max_budget_seconds=1, host_limit_seconds=2)
    app = create_app(settings, run_tick=RUNS[sys.argv[1]], check_ready=is_ready, retire=retire)
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]))
