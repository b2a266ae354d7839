"""A Starlette application that tells what happened to it."""

import os
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypedDict

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from crontick.handler import wrap


class State(TypedDict):
    """What the lifespan gives to requests."""

    started: int


class Teapot(Exception):
    """Has a handler of its own."""


SEEN: list[str] = []
STARTED: list[int] = []
DONE: list[str] = []


class Seeing:
    """A middleware that keeps each path."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            SEEN.append(scope["path"])
        await self.app(scope, receive, send)


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[State]:
    STARTED.append(1)
    yield {"started": len(STARTED)}
    print("stopped", flush=True)


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"hello {(await request.body()).decode()}")


async def seen(_: Request) -> JSONResponse:
    return JSONResponse(SEEN)


async def state(request: Request) -> JSONResponse:
    return JSONResponse([request.state.started, len(STARTED)])


async def breaks(_: Request) -> PlainTextResponse:
    raise Teapot


async def fails(_: Request) -> PlainTextResponse:
    raise RuntimeError("unexpected")


async def _letters() -> AsyncIterator[str]:
    for letter in "abc":
        yield letter


async def stream(_: Request) -> StreamingResponse:
    return StreamingResponse(_letters())


async def background(_: Request) -> PlainTextResponse:
    return PlainTextResponse("later", background=BackgroundTask(DONE.append, "done"))


async def done(_: Request) -> JSONResponse:
    return JSONResponse(DONE)


async def process(_: Request) -> JSONResponse:
    """What crontick made of this process so far."""
    return JSONResponse(
        {
            "pid": os.getpid(),
            "modules": sorted(name for name in sys.modules if name.startswith(("crontick.", "psycopg", "msgspec"))),
            "threads": sorted(thread.name for thread in threading.enumerate()),
            "signals": [repr(signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT)],
        }
    )


async def teapot(_: Request, __: Exception) -> PlainTextResponse:
    return PlainTextResponse("a teapot", status_code=418)


async def not_found(_: Request, error: Exception) -> PlainTextResponse:
    assert isinstance(error, HTTPException)
    return PlainTextResponse("nobody is here", status_code=404)


bare = Starlette(
    routes=[
        Route("/hello", hello, methods=["GET", "POST"]),
        *(Route(f"/{one.__name__}", one) for one in (seen, state, breaks, fails, stream, background, done, process)),
    ],
    middleware=[Middleware(Seeing)],
    exception_handlers={Teapot: teapot, 404: not_found},
    lifespan=lifespan,
)
app = wrap(bare)
