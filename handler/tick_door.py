"""The door of the tick: admits, reads, runs and answers."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from crontick.handler import watchdog
from crontick.handler.auth import admit, digests
from crontick.handler.body import read_body
from crontick.handler.logs import log, push
from crontick.handler.problem import (
    FAULT,
    METHOD_NOT_ALLOWED,
    NOT_JSON,
    OUT_OF_RANGE,
    UNAVAILABLE,
    Problem,
)
from crontick.handler.trigger import trigger_name
from crontick.jobs.caller import Caller
from crontick.jobs.request import BadRequest, OutOfRange, TickRequest, parse
from crontick.jobs.settings import Settings
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary
from crontick.jobs.unavailable import Unavailable

RunTick = Callable[[TickRequest, Caller, Stop], Awaitable[Summary]]

REQUEST_IDS: Final = ("x-amzn-trace-id", "x-cloud-trace-context", "x-vercel-id", "fly-request-id", "x-request-id")
RETIRING_SECONDS: Final = 5
STUCK: Final = "a function of this tick cannot be stopped and runs on: restart this process when you can"


class TickDoor:
    """Keeps the ticks that run: one goes on when its caller hangs up, and is finished before the process ends."""

    def __init__(
        self, settings: Settings, *, run_tick: RunTick, retire: Callable[[], None] | None, stop: Stop | None = None
    ) -> None:
        self._settings = settings
        self._digests = digests(settings.cron_secrets)
        self._methods = ("GET", "POST") if settings.allow_get else ("POST",)
        self._run_tick = run_tick
        self._retire = retire
        self._retiring = False
        self._running: set[asyncio.Task[Summary | Problem]] = set()
        self.stop = stop or Stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one call; whatever refuses it is raised as a ``Problem``."""
        request = Request(scope)
        fingerprint = admit(scope, self._digests)
        if request.method not in self._methods:
            allowed = ", ".join(self._methods)
            raise Problem(METHOD_NOT_ALLOWED, f"a tick is called with {allowed}", {"allow": allowed})
        asked = _parsed(await read_body(scope, receive))
        summary = await self._ticked(asked, _caller(request, asked, fingerprint))
        answer = msgspec.json.encode(summary.as_dict(verbose=asked.verbose))
        headers = {"cache-control": "no-store"}
        await Response(answer, headers=headers, media_type="application/json")(scope, receive, send)

    async def finish(self) -> None:
        """Wait for the ticks whose callers have gone."""
        if self._running:
            await asyncio.wait(self._running)

    async def _ticked(self, request: TickRequest, caller: Caller) -> Summary:
        if self._retiring or self.stop.asked:
            raise _unavailable(Unavailable("this process is ending", retry_after_seconds=RETIRING_SECONDS))
        task = asyncio.create_task(self._tick(request, caller))
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        ended = await asyncio.shield(task)
        if isinstance(ended, Problem):
            raise ended
        return ended

    async def _tick(self, request: TickRequest, caller: Caller) -> Summary | Problem:
        """Run one tick to its end. A fault is a value here: there may be nobody left to catch it."""
        told = {"trigger": caller.trigger}
        try:
            with self._watched(request):
                summary = await self._run_tick(request, caller, self.stop)
        except Unavailable as unavailable:
            log.warning("no tick: %s", unavailable.sentence, extra={"fields": {"event": "tick_unavailable", **told}})
            return _unavailable(unavailable)
        except Exception:  # noqa: BLE001 (it is ours: jobs end in outcomes, the database's absence in Unavailable)
            log.exception("the tick failed", extra={"fields": {"event": "tick_fault", **told}})
            return Problem(FAULT, "this is a fault of crontick: its log has the traceback; jobs that ran are retried")
        if summary.retire and not self._retire:
            summary.warn(STUCK)
        log.info("tick", extra={"fields": {"event": "tick", **summary.as_dict(verbose=True)}})
        push(summary, self._settings)
        if summary.retire and self._retire:
            self._retiring = True
            self._retire()
        return summary

    def _watched(self, request: TickRequest) -> AbstractContextManager[None]:
        """A process that is all ours ends when its loop is blocked; somebody else's is left alone."""
        if self._retire is None:
            return nullcontext()
        budget = min(request.budget_seconds or self._settings.budget_seconds, self._settings.max_budget_seconds)
        host = self._settings.host_limit_seconds
        patience = watchdog.PATIENCE_SECONDS if host is None else min(watchdog.PATIENCE_SECONDS, (host - budget) / 2)
        return watchdog.watched(asyncio.get_running_loop(), deadline_seconds=budget, patience_seconds=patience)


def _parsed(body: bytes) -> TickRequest:
    try:
        return parse(body)
    except BadRequest as error:
        raise Problem(NOT_JSON, str(error)) from None
    except OutOfRange as error:
        raise Problem(OUT_OF_RANGE, str(error)) from None


def _caller(request: Request, asked: TickRequest, fingerprint: str) -> Caller:
    given = [request.headers[name] for name in REQUEST_IDS if name in request.headers]
    request_id = "".join(character for character in given[0] if character.isprintable())[:128] if given else None
    return Caller(asked.trigger or trigger_name(request.headers.get("user-agent", "")), fingerprint, request_id)


def _unavailable(unavailable: Unavailable) -> Problem:
    return Problem(
        UNAVAILABLE, f"{unavailable.sentence}: call again", {"retry-after": str(unavailable.retry_after_seconds)}
    )
