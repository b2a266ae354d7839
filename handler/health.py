"""Whether the process is up, and whether a tick could run."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from crontick.handler.auth import admit
from crontick.handler.problem import METHOD_NOT_ALLOWED, Problem

CheckReady = Callable[[], Awaitable[None]]


async def alive(scope: Scope, receive: Receive, send: Send) -> None:
    """``GET /healthz``: touches no database, so that a host may ask often without keeping one awake."""
    _only_get(scope)
    await JSONResponse({"status": "ok"})(scope, receive, send)


def ready(check_ready: CheckReady, accepted: Sequence[bytes]) -> ASGIApp:
    """``GET /readyz``: the database can be reached and its schema is one that this code serves."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        admit(scope, accepted)
        _only_get(scope)
        await check_ready()
        await JSONResponse({"status": "ready"})(scope, receive, send)

    return answer


def _only_get(scope: Scope) -> None:
    if Request(scope).method not in ("GET", "HEAD"):
        raise Problem(METHOD_NOT_ALLOWED, "this path is read with GET", {"allow": "GET, HEAD"})
