"""The routes, as an ASGI application."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from starlette.routing import Route, Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from crontick.handler import health
from crontick.handler.auth import digests
from crontick.handler.body import HungUp
from crontick.handler.lazily import lazily
from crontick.handler.logs import log
from crontick.handler.paths import TICK_PATHS
from crontick.handler.problem import FAULT, NOT_FOUND, UNAVAILABLE, Problem
from crontick.handler.shutdown import asked_by_sigterm
from crontick.handler.tick_door import RunTick, TickDoor
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import Unavailable

if TYPE_CHECKING:
    from crontick.jobs.deployment import Deployment


def create_app(
    settings: Settings,
    *,
    run_tick: RunTick,
    check_ready: health.CheckReady,
    retire: Callable[[], None] | None = None,
    answer_bytes: int | None = None,
    deployment: "Callable[[], Deployment] | None" = None,
) -> ASGIApp:
    """The application; making it makes no connection and starts nothing.

    ``retire`` ends the process, for one that is all ours: its loop is then watched, and SIGTERM stops a running tick.
    ``answer_bytes``: the most that the host lets one answer have. ``deployment`` says which kinds HTTP may enqueue.
    A route whose secret is not set does not exist.
    """
    prefix = settings.prefix or ""
    door = TickDoor(settings, run_tick=run_tick, retire=retire)
    routes = [Route(f"{prefix}/healthz", _Raw(health.alive))]
    tick = door if settings.cron_secrets else _NoTick()
    routes += [Route(path, tick) for path in TICK_PATHS]
    if readers := digests(settings.cron_secrets + settings.admin_secrets):
        routes.append(Route(f"{prefix}/readyz", _Raw(health.ready(check_ready, readers))))

    if settings.admin_secrets or settings.signing_secrets:
        # Imported here: where no secret opens these routes, a cold tick does not pay for them.
        from crontick.handler.report_door import FileDoor, ReportDoor

        routes.append(Route(f"{prefix}/api/reports/{{run:int}}", ReportDoor(settings)))
        file_door = FileDoor(settings, answer_bytes=answer_bytes)
        routes.append(Route(f"{prefix}/api/reports/{{run:int}}/download", file_door))
    routes.append(Route(f"{prefix}/openapi.json", _Later(lambda: _document(settings))))
    if settings.admin_secrets and deployment is not None:
        routes.append(Route(f"{prefix}/metrics", _Later(lambda: _metrics(settings, deployment))))
    if settings.admin_secrets or settings.enqueue_secrets:
        routes.append(Route(f"{prefix}/api/{{rest:path}}", _Later(lambda: _api(settings, deployment))))
    if settings.admin_secrets:
        page = _Later(lambda: _page(settings, deployment))
        routes += [Route(f"{prefix}/dashboard", page), Route(f"{prefix}/dashboard/{{path:path}}", page)]

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        with asked_by_sigterm(door.stop) if retire else nullcontext():
            yield
            await door.finish()

    router = Router(routes, redirect_slashes=False, default=_not_found, lifespan=lifespan)
    return with_problems(router)


class _Raw:
    """An endpoint that Starlette calls as an ASGI application, for every method: a function it would wrap."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


class _Later:
    """An endpoint that is made, and its modules imported, when it is first called: a cold tick does not pay for it."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._app = lazily(make)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app()(scope, receive, send)


def _api(settings: Settings, deployment: "Callable[[], Deployment] | None") -> ASGIApp:
    from crontick.handler.operate.app import api

    return api(settings, deployment)


def _document(settings: Settings) -> ASGIApp:
    from crontick.handler.operate.openapi import DocumentDoor

    return DocumentDoor(settings)


def _page(settings: Settings, deployment: "Callable[[], Deployment] | None") -> ASGIApp:
    import importlib.util

    if importlib.util.find_spec("jinja2") is None:
        from crontick.sql.extras import install

        raise Unavailable(f"the page needs more: {install('dashboard')}", retry_after_seconds=3600)
    from crontick.handler.dashboard.door import DashboardDoor

    return DashboardDoor(settings, deployment)


def _metrics(settings: Settings, deployment: "Callable[[], Deployment]") -> ASGIApp:
    from crontick.handler.operate.metrics_door import MetricsDoor

    return MetricsDoor(settings, deployment)


class _NoTick:
    """In the tick's place where ``CRON_SECRET`` is not set. Whoever likes can call, so that the log is told once."""

    def __init__(self) -> None:
        self._told = False

    async def __call__(self, _scope: Scope, _receive: Receive, _send: Send) -> None:
        if not self._told:
            self._told = True
            log.warning("a tick was called, and CRON_SECRET is not set: make one with `openssl rand -hex 32`")
        raise Problem(NOT_FOUND, "CRON_SECRET is not set here, and without it there is no tick")


async def _not_found(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await WebSocketClose()(scope, receive, send)
        return
    raise Problem(NOT_FOUND, f"the tick is at {TICK_PATHS[0]}, and no path here ends in a slash")


def with_problems(app: ASGIApp) -> ASGIApp:
    """Every error as a problem; no exception reaches the server, which would log it as it is."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        started = False

        async def watched_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await app(scope, receive, watched_send)
        except HungUp:
            return
        except Problem as problem:
            await _answer(problem, scope, receive, send)
        except Unavailable as unavailable:
            headers = {"retry-after": str(unavailable.retry_after_seconds)}
            await _answer(Problem(UNAVAILABLE, unavailable.reason, headers), scope, receive, send)
        except Exception:  # noqa: BLE001 (the last net: a server would log its text as it is, secrets and all)
            log.exception("a request failed")
            if not started:
                fault = Problem(FAULT, "this is a fault of crontick: its log has the traceback")
                await _answer(fault, scope, receive, send)

    return answer


async def _answer(problem: Problem, scope: Scope, receive: Receive, send: Send) -> None:
    response = problem.response()
    if scope["http_version"].startswith("1."):
        # Its body may not have been read: without this the server would wait for the rest of it.
        response.headers["connection"] = "close"
    await response(scope, receive, send)
