"""Ticks without anybody calling: resident mode, for hosts that never sleep."""

import asyncio
import os
import sys
from datetime import timedelta
from typing import Annotated, Final

import typer

from crontick.handler import logs
from crontick.handler.cli.database import settings
from crontick.handler.cli.options import length
from crontick.handler.signalled import signalled
from crontick.handler.supervisor import tell_supervisor
from crontick.handler.watch_ticks import WatchTicks
from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.stop import Stop
from crontick.jobs.watch import Ended, Watch

EVERY: Final = timedelta(seconds=60)
LONGEST: Final = timedelta(days=1)
GRACE: Final = timedelta(seconds=25)
TO_SETTLE_SECONDS: Final = 3.0
"""Of the grace period: what attempts that were cut need to clean up, and the last exchange to be written."""
TO_CLEAN_UP_SECONDS: Final = 1.0
"""Of that: what a tick that does not end needs to tell which sends it could not write down (P21)."""
ENDINGS: Final[dict[Ended | None, str]] = {
    "asked": "the watcher ends: it was asked to",
    "memory": "the watcher ends: its memory is nearly full, and whoever started it should start it again",
    "retired": "the watcher ends: a function of its last tick cannot be stopped and runs on; start it again",
    None: "the watcher ends in the middle of its tick: the grace period is over; what ran is rescued by a later tick",
}


def watch(
    every: Annotated[
        timedelta | None,
        typer.Option(parser=length, metavar="LENGTH", help="A tick so often in any case.", show_default="60s"),
    ] = None,
    grace: Annotated[
        timedelta | None,
        typer.Option(parser=length, metavar="LENGTH", help="How long it may take to end.", show_default="25s"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Log in JSON, whatever CRONTICK_LOG_FORMAT says.")] = False,
) -> None:
    """Stay, and run what is enqueued and comes due; for a host that is always on. Ends at SIGTERM or Ctrl-C."""
    every_seconds, grace_seconds = _seconds(every or EVERY, "--every"), _seconds(grace or GRACE, "--grace")
    stop = Stop()
    watcher = _Watcher(stop, every_seconds, grace_seconds)
    with signalled(watcher.asked):
        deployment = load_deployment(settings())
        logs.configure(deployment.redact, log_format="json" if json else deployment.settings.log_format)
        asyncio.run(watcher.run(deployment))


def _seconds(given: timedelta, name: str) -> float:
    if not timedelta(seconds=1) <= given <= LONGEST:
        raise typer.BadParameter(f"{name} is from 1s to 1d")
    return given.total_seconds()


class _Watcher:
    """The loop of this process, which a signal reaches before, while and after it turns."""

    def __init__(self, stop: Stop, every_seconds: float, grace_seconds: float) -> None:
        self._stop = stop
        self._every_seconds = every_seconds
        self._grace_seconds = grace_seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._asked = asyncio.Event()

    def asked(self) -> None:
        grace_seconds = self._grace_seconds
        self._stop.ask(cut_in_seconds=max(grace_seconds - TO_SETTLE_SECONDS, grace_seconds / 2))
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._asked.set)

    async def run(self, deployment: Deployment) -> None:
        """Returns when somebody asked for it; else the process ends here, with status 1."""
        self._loop = asyncio.get_running_loop()
        ended = "asked" if self._stop.asked else await self._ended(deployment)
        tell_supervisor("STOPPING=1")
        logs.log.info("%s", ENDINGS[ended], extra={"fields": {"event": "watch_ended", "reason": ended or "grace"}})
        if ended != "asked":
            # Not by way of the loop, which waits for every coroutine, nor of the interpreter: something may run on.
            sys.stdout.flush()
            os._exit(1)

    async def _ended(self, deployment: Deployment) -> Ended | None:
        url = deployment.settings.listen_url
        assert url is not None  # settings() refused that
        watch = Watch(WatchTicks(deployment, self._stop).tick, self._stop, every_seconds=self._every_seconds)
        running, asked = asyncio.create_task(watch.run(url)), asyncio.create_task(self._asked.wait())
        tell_supervisor("READY=1")
        await asyncio.wait({running, asked}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        if self._stop.asked:
            logs.log.info("the watcher was asked to end", extra={"fields": {"event": "watch_asked"}})
            watch.stopped()
            await asyncio.wait(
                {running}, timeout=self._grace_seconds - min(TO_CLEAN_UP_SECONDS, self._grace_seconds / 4)
            )
        if running.done():
            return running.result()
        running.cancel()
        await asyncio.wait({running}, timeout=TO_CLEAN_UP_SECONDS)
        return None
