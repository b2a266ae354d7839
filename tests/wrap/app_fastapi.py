"""A FastAPI application that tells what happened to it; some of its routes came after it was wrapped."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, TypedDict

from fastapi import BackgroundTasks, Body, FastAPI, Request
from fastapi.responses import PlainTextResponse, Response, StreamingResponse

from crontick.handler import wrap


class State(TypedDict):
    """What the lifespan gives to requests."""

    started: int


class Teapot(Exception):
    """Has a handler of its own."""


SEEN: list[str] = []
STARTED: list[int] = []
DONE: list[str] = []


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[State]:
    STARTED.append(1)
    yield {"started": len(STARTED)}
    print("stopped", flush=True)


bare = FastAPI(lifespan=lifespan)
app = wrap(bare)


@app.middleware("http")
async def seeing(request: Request, call_next: Callable[[Request], Awaitable[Response]]) -> Response:
    SEEN.append(request.url.path)
    return await call_next(request)


@app.exception_handler(Teapot)
async def teapot(_: Request, __: Exception) -> PlainTextResponse:
    return PlainTextResponse("a teapot", status_code=418)


@app.get("/hello")
async def hello() -> PlainTextResponse:
    return PlainTextResponse("hello ")


@app.post("/hello")
async def hello_to(name: Annotated[str, Body()]) -> PlainTextResponse:
    return PlainTextResponse(f"hello {name}")


@app.get("/seen")
async def seen() -> list[str]:
    return SEEN


@app.get("/state")
async def state(request: Request) -> list[int]:
    return [request.state.started, len(STARTED)]


@app.get("/breaks")
async def breaks() -> None:
    raise Teapot


@app.get("/fails")
async def fails() -> None:
    raise RuntimeError("unexpected")


async def _letters() -> AsyncIterator[str]:
    for letter in "abc":
        yield letter


@app.get("/stream")
async def stream() -> StreamingResponse:
    return StreamingResponse(_letters())


@app.get("/background")
async def background(tasks: BackgroundTasks) -> PlainTextResponse:
    tasks.add_task(DONE.append, "done")
    return PlainTextResponse("later")


@app.get("/done")
async def done() -> list[str]:
    return DONE
