"""Pings that say a tick began, and how it ended, to whoever raises the alarm when none comes."""

import asyncio
import logging
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

from crontick.jobs.deployment import Deployment
from crontick.jobs.outbound import client, send
from crontick.jobs.outward_sections import HeartbeatSettings
from crontick.jobs.summary import Summary
from crontick.jobs.tick_secrets import TickSecrets
from crontick.jobs.unavailable import Unavailable

if TYPE_CHECKING:
    import httpx

__all__ = ["Heartbeat", "ping_url"]

_START_WAITS_SECONDS: Final = 1.0
"""For the first ping, once the tick is over: the last one is what matters, and must not be overtaken by it."""
_TICK: Final = re.compile(r"tick \d+")
"""A note of ours on an error; others' notes may say anything."""
log: Final = logging.getLogger("crontick.tick")


class Heartbeat:
    """One tick's pings, which have one id in their URLs. Nothing that goes wrong with them is raised."""

    def __init__(self, deployment: Deployment, settings: HeartbeatSettings) -> None:
        self._deployment = deployment
        self._seconds = settings.timeout.total_seconds()
        self._variable = settings.url_env
        self._run = str(uuid4())
        self._http: httpx.AsyncClient | None = None
        self._start: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Say that a tick begins, beside it."""
        self._start = asyncio.create_task(self._ping("start", "a tick begins", self._seconds))

    async def success(self, summary: Summary, *, left_seconds: float) -> None:
        """Say that the tick ended, whatever its jobs did: that is not what this alarm is for."""
        told = f"tick {summary.tick}: {summary.claimed} claimed, {summary.succeeded} succeeded, {summary.dead} dead"
        await self._end("", told if summary.ran else f"tick {summary.tick}: {summary.not_run}", left_seconds)

    async def fail(self, error: BaseException, *, left_seconds: float) -> None:
        """Say that there was none, and why in crontick's own words."""
        told = error.sentence if isinstance(error, Unavailable) else f"a fault of crontick: {type(error).__name__}"
        tick = next(filter(_TICK.fullmatch, getattr(error, "__notes__", ())), None)
        await self._end("fail", f"{tick}: {told}" if tick else told, left_seconds)

    async def drop(self) -> None:
        """Leave nothing behind, also of a tick that was cancelled: what was said of it last is then that it began."""
        if self._start is not None:
            self._start.cancel()
            await asyncio.wait({self._start}, timeout=_START_WAITS_SECONDS)
        if self._http is not None:
            await self._http.aclose()

    async def _end(self, path: str, told: str, left_seconds: float) -> None:
        try:
            if self._start is not None:
                await asyncio.wait({self._start}, timeout=_START_WAITS_SECONDS)
                self._start.cancel()
            await self._ping(path, told, min(self._seconds, left_seconds))
        finally:
            await self.drop()

    async def _ping(self, path: str, told: str, seconds: float) -> None:
        try:
            url = ping_url(TickSecrets(self._deployment.redact).read(self._variable), path, self._run)
            if self._http is None:
                self._http = client(self._deployment.config.http, operator=True)
            content = self._deployment.redact(told).encode()
            answer = await send(
                self._http, url, content=content, headers={"content-type": "text/plain"}, seconds=seconds
            )
        except Exception as raised:  # noqa: BLE001 (an alarm that cannot be reached harms no tick)
            ours = type(raised).__module__.startswith("crontick") or isinstance(raised, LookupError)
            said = str(raised) if ours else type(raised).__name__
            log.warning("the heartbeat was not taken: %s", self._deployment.redact(said))
        else:
            if not 200 <= answer.status < 300:
                log.warning("the heartbeat was answered %s by %s", answer.status, urlsplit(url).hostname)


def ping_url(url: str, path: str, run: str) -> str:
    """``path`` is added to the URL's path, and to its query ``rid``, by which the pings of one run are known."""
    parts = urlsplit(url)
    whole = parts.path.rstrip("/") + (f"/{path}" if path else "")
    query = "&".join(filter(None, (parts.query, f"rid={run}")))
    return urlunsplit(parts._replace(path=whole, query=query))
