"""A watcher's ticks, as its log and those who look after it are told of them."""

import asyncio
import time
from typing import Final

import msgspec

from crontick.handler import watchdog
from crontick.handler.logs import log, push
from crontick.jobs.caller import WATCH, Caller
from crontick.jobs.deployment import Deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import DEEPEST, TickRequest
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary
from crontick.jobs.unavailable import Unavailable

HEARTBEAT_SECONDS: Final = 30.0
"""A heartbeat says that ticks come: a watcher may have one a second, and who listens for it wants none of that."""


class WatchTicks:
    """Each is watched by a thread that ends the process when its loop is blocked (P7)."""

    def __init__(self, deployment: Deployment, stop: Stop) -> None:
        self._deployment = deployment
        silent = msgspec.structs.replace(deployment.config, heartbeat=None)
        self._silent = msgspec.structs.replace(deployment, config=silent)
        self._beat_at = -HEARTBEAT_SECONDS
        self._stop = stop
        self._told: list[str] = []

    async def tick(self) -> Summary | None:
        """One tick; None when there was none, which the log tells."""
        budget = self._deployment.settings.budget_seconds
        try:
            with watchdog.watched(asyncio.get_running_loop(), deadline_seconds=budget):
                # Asks nobody for more ticks: its own next one follows at once.
                request = TickRequest(trigger=WATCH, depth=DEEPEST)
                summary = await run_tick(self._beating(), request, caller=Caller(WATCH), stop=self._stop)
        except Unavailable as unavailable:
            self._beat_at = -HEARTBEAT_SECONDS
            fields = {"event": "tick_unavailable", "trigger": WATCH}
            log.warning("no tick: %s", unavailable.sentence, extra={"fields": fields})
            return None
        except Exception:  # noqa: BLE001 (it is ours: jobs end in outcomes, the database's absence in Unavailable)
            log.exception("the tick failed", extra={"fields": {"event": "tick_fault", "trigger": WATCH}})
            return None
        if _worth_telling(summary) or summary.warnings != self._told:
            log.info("tick", extra={"fields": {"event": "tick", **summary.as_dict(verbose=True)}})
            push(summary, self._deployment.settings)
        self._told = summary.warnings
        return summary

    def _beating(self) -> Deployment:
        now = time.monotonic()
        if now - self._beat_at < HEARTBEAT_SECONDS:
            return self._silent
        self._beat_at = now
        return self._deployment


def _worth_telling(summary: Summary) -> bool:
    return bool(summary.claimed or summary.rescued or summary.scheduled or summary.reminders or summary.errors)
