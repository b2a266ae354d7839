"""A caller that goes away stops nothing; one that goes away before its request was whole starts nothing."""

import asyncio
import socket
import struct
import threading

import pytest
from starlette.types import Message, Scope

from tests.door.serving import TOKEN, Ticks, app_of, exchange, head, served
from tests.worlds.waiting import listens, until


def reset(connection: socket.socket) -> None:
    """Close at once, with a reset, as a killed process does."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


@pytest.mark.parametrize("leave", [socket.socket.close, reset])
def test_a_tick_goes_on_when_its_caller_hangs_up(address: tuple[str, int], ticks: Ticks, leave: object) -> None:
    ticks.go_on = threading.Event()
    connection = socket.create_connection(address, timeout=20)
    connection.sendall(head())
    assert ticks.begun.wait(20)
    assert callable(leave)
    leave(connection)
    assert exchange(address, head("GET", "/healthz")).status == 200
    assert not ticks.ended.is_set()
    ticks.go_on.set()
    assert ticks.ended.wait(20)


def test_a_request_that_breaks_off_starts_no_tick(ticks: Ticks) -> None:
    with served(app_of(ticks)) as address:
        connection = socket.create_connection(address, timeout=20)
        connection.sendall(head("POST", "/cron/tick", "Content-Length: 20") + b'{"limit": 7}')
        reset(connection)
        assert exchange(address, head()).status == 200
    assert [request.limit for request, _ in ticks.asked] == [None]


@pytest.mark.anyio
async def test_a_tick_whose_request_was_cancelled_is_finished_before_the_process_ends() -> None:
    """Some servers cancel the request's task when the caller goes."""
    ticks = Ticks(go_on=threading.Event())
    app = app_of(ticks)
    assert ticks.go_on is not None
    events: asyncio.Queue[str] = asyncio.Queue()
    lifespan = asyncio.create_task(_lifespan(app, events))
    await events.get()
    call = asyncio.create_task(_call(app))
    while not ticks.begun.is_set():  # noqa: ASYNC110 (a thread's event)
        await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    assert call.cancelled()
    await events.put("shutdown")
    await asyncio.sleep(0.05)
    assert not lifespan.done()
    ticks.go_on.set()
    await lifespan
    assert ticks.ended.is_set()


async def _call(app: object) -> None:
    scope: Scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "POST",
        "path": "/cron/tick",
        "query_string": b"",
        "headers": [(b"authorization", b"Bearer " + TOKEN.encode())],
    }

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_: Message) -> None:
        return

    await app(scope, receive, send)  # type: ignore[operator]


async def _lifespan(app: object, events: "asyncio.Queue[str]") -> None:
    asked = iter(["lifespan.startup", "lifespan.shutdown"])

    async def receive() -> Message:
        kind = next(asked)
        if kind == "lifespan.shutdown":
            assert await events.get() == "shutdown"
        return {"type": kind}

    async def send(message: Message) -> None:
        if message["type"] == "lifespan.startup.complete":
            await events.put("started")
            await asyncio.sleep(0)

    await app({"type": "lifespan", "asgi": {"version": "3.0"}}, receive, send)  # type: ignore[operator]


def test_the_server_stops_only_after_its_tick(ticks: Ticks) -> None:
    ticks.go_on = threading.Event()
    with served(app_of(ticks)) as address:
        connection = socket.create_connection(address, timeout=20)
        connection.sendall(head())
        assert ticks.begun.wait(20)
        reset(connection)
        ending = threading.Thread(target=_go_on_once_it_stops, args=(address, ticks.go_on))
        ending.start()
    ending.join(30)
    assert ticks.ended.is_set()


def _go_on_once_it_stops(address: tuple[str, int], go_on: threading.Event) -> None:
    """A server that was told to stop takes no more connections, and waits for its tick."""
    until(lambda: not listens(address[1]))
    go_on.set()
