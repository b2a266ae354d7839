"""What is wrapped is still the app: its attributes, its type, and every message as it came."""

import asyncio
import logging
from typing import Annotated, Any

import httpx
import psycopg
import pytest
from fastapi import Depends, FastAPI
from fastapi.responses import PlainTextResponse
from starlette.applications import Starlette
from starlette.routing import Mount, WebSocketRoute
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from crontick.handler import wrap
from tests.door.serving import TOKEN

Call = tuple[Scope, Receive, Send]
CALLS: list[Call] = []


async def remember(scope: Scope, receive: Receive, send: Send) -> None:
    CALLS.append((scope, receive, send))


async def receive() -> dict[str, Any]:
    raise AssertionError("nobody but the app receives")


async def send(_: Any) -> None:
    raise AssertionError("nobody but the app sends")


@pytest.mark.anyio
@pytest.mark.parametrize(
    "scope",
    [
        {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}},
        {"type": "websocket", "path": "/echo"},
        {"type": "websocket", "path": "/cron/tick"},
        {"type": "http", "path": "/", "extensions": {"http.response.push": {}}},
        {"type": "http", "path": "/cron/tick", "root_path": "/cron/tick"},
        {"type": "of a server to come"},
    ],
    ids=lambda scope: scope["type"],
)
async def test_scope_receive_and_send_are_the_servers_own(scope: dict[str, Any]) -> None:
    before = repr(scope)
    CALLS.clear()
    await wrap(remember)(scope, receive, send)
    [(passed, *rest)] = CALLS
    assert passed is scope
    assert repr(scope) == before
    assert rest == [receive, send]


@pytest.mark.anyio
async def test_what_the_app_raises_is_raised() -> None:
    async def fails(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await wrap(fails)({"type": "http", "path": "/"}, receive, send)


def client(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://app")


async def who() -> str:
    return "somebody"


@pytest.mark.anyio
async def test_routes_may_be_added_and_dependencies_overridden_after_it_was_wrapped() -> None:
    app = wrap(FastAPI())

    @app.get("/who")
    async def tell(name: Annotated[str, Depends(who)]) -> PlainTextResponse:
        return PlainTextResponse(name)

    async with client(app) as http:
        assert (await http.get("/who")).text == "somebody"
        app.dependency_overrides[who] = lambda: "Ada"
        assert (await http.get("/who")).text == "Ada"


def test_attributes_are_those_of_the_app() -> None:
    inner = FastAPI(title="shop")
    app = wrap(inner)
    app.state.pool = 7
    app.title = "other shop"
    assert (inner.state.pool, inner.title, app.url_path_for) == (7, "other shop", inner.url_path_for)
    del app.state
    assert not hasattr(inner, "state")
    assert not hasattr(app, "nothing_of_that_name")


def test_it_is_an_instance_of_what_it_wraps() -> None:
    """``fastapi run`` finds an app by its type."""
    assert isinstance(wrap(FastAPI()), FastAPI)


@pytest.mark.anyio
async def test_a_websocket_is_the_apps() -> None:
    async def echo(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text(f"echo {await socket.receive_text()}")
        await socket.close()

    received: asyncio.Queue[Message] = asyncio.Queue()
    for message in ({"type": "websocket.connect"}, {"type": "websocket.receive", "text": "hello"}):
        received.put_nowait(message)
    sent: list[Message] = []

    async def keep(message: Message) -> None:
        sent.append(message)

    scope = {"type": "websocket", "path": "/crontick/echo", "headers": [], "query_string": b""}
    await wrap(Starlette(routes=[WebSocketRoute("/crontick/echo", echo)]))(scope, received.get, keep)
    assert [message.get("text", message["type"]) for message in sent] == [
        "websocket.accept",
        "echo hello",
        "websocket.close",
    ]


@pytest.mark.anyio
async def test_below_a_mount_the_paths_are_those_of_the_inner_app(settings: pytest.MonkeyPatch) -> None:
    outer = Starlette(routes=[Mount("/shop", wrap(FastAPI()))])
    async with client(outer) as http:
        assert (await http.get("/shop/crontick/healthz")).json() == {"status": "ok"}
        assert (await http.post("/shop/cron/tick")).status_code == 401
        assert (await http.post("/cron/tick")).text == "Not Found"


def wsgi(environ: dict[str, Any], _start_response: Any) -> list[bytes]:
    raise AssertionError("called by nobody")


@pytest.mark.parametrize("thing", [wsgi, FastAPI, "acme.main:app"])
def test_what_is_no_asgi_application_is_told_at_once(thing: Any) -> None:
    with pytest.raises(TypeError, match=r"serve crontick\.handler\.asgi:app as a process of its own"):
        wrap(thing)


def handling() -> list[object]:
    """All that somebody may have set up of logging, but filters of our own loggers."""
    loggers = [
        logging.root,
        *map(logging.getLogger, ("crontick", "crontick.run", "httpx", "httpcore", "uvicorn.access")),
    ]
    told: list[object] = [(one.handlers[:], one.level, one.propagate, one.disabled) for one in loggers]
    return [*told, *(one.filters[:] for one in loggers if not one.name.startswith("crontick"))]


@pytest.mark.anyio
async def test_logging_stays_the_apps_and_what_we_say_has_no_secret(
    settings: pytest.MonkeyPatch, sync_conn: psycopg.Connection[object], caplog: pytest.LogCaptureFixture
) -> None:
    settings.setenv("CRONTICK_MODULES", "tests.wrap.kinds")
    before = handling()
    sync_conn.execute("select crontick.enqueue('tell', jsonb_build_object('text', %s::text))", [f"it is {TOKEN}!"])
    caplog.set_level(logging.INFO)
    async with client(wrap(FastAPI())) as http:
        answer = await http.post("/cron/tick", headers={"authorization": f"Bearer {TOKEN}"})
    assert answer.json()["failed"] == 1
    assert handling()[2:] == before[2:]
    assert "told it is [redacted]!" in caplog.text
    assert TOKEN not in caplog.text
    assert "tick" in [record.message for record in caplog.records if record.name == "crontick"]
