"""A Litestar application that tells what happened to it."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from litestar import Litestar, MediaType, Request, Response, get, post
from litestar.background_tasks import BackgroundTask
from litestar.datastructures import State
from litestar.response import Stream
from litestar.types import ASGIApp, Receive, Scope, Send

from crontick.handler import wrap


class Teapot(Exception):
    """Has a handler of its own."""


SEEN: list[str] = []
STARTED: list[int] = []
DONE: list[str] = []


def seeing(app: ASGIApp) -> ASGIApp:
    async def middleware(scope: Scope, receive: Receive, send: Send) -> None:
        SEEN.append(scope["path"])
        await app(scope, receive, send)

    return middleware


@asynccontextmanager
async def lifespan(litestar: Litestar) -> AsyncGenerator[None, None]:
    STARTED.append(1)
    litestar.state.started = len(STARTED)
    yield
    print("stopped", flush=True)


@get("/hello", media_type=MediaType.TEXT)
async def hello() -> str:
    return "hello "


@post("/hello", media_type=MediaType.TEXT)
async def hello_to(request: Request[Any, Any, State]) -> str:
    return f"hello {await request.json()}"


@get("/seen")
async def seen() -> list[str]:
    return SEEN


@get("/state")
async def state(state: State) -> list[int]:
    return [state.started, len(STARTED)]


@get("/breaks")
async def breaks() -> None:
    raise Teapot


@get("/fails")
async def fails() -> None:
    raise RuntimeError("unexpected")


async def _letters() -> AsyncIterator[str]:
    for letter in "abc":
        yield letter


@get("/stream")
async def stream() -> Stream:
    return Stream(_letters())


async def _later() -> None:
    DONE.append("done")


@get("/background", media_type=MediaType.TEXT)
async def background() -> Response[str]:
    return Response("later", background=BackgroundTask(_later))


@get("/done")
async def done() -> list[str]:
    return DONE


def teapot(_: Request[Any, Any, State], __: Exception) -> Response[str]:
    return Response("a teapot", status_code=418, media_type=MediaType.TEXT)


bare = Litestar(
    [hello, hello_to, seen, state, breaks, fails, stream, background, done],
    middleware=[seeing],
    exception_handlers={Teapot: teapot},
    lifespan=[lifespan],
)
app = wrap(bare)
