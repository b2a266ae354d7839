"""The real application under the real server, on loopback, and a socket that says whatever a test wants to say."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import uvicorn
from starlette.types import ASGIApp

from crontick.handler.app import create_app
from crontick.jobs.caller import Caller
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary

TOKEN = "3f9b1c0de7a24586b1f0"
OLD_TOKEN = "0a1b2c3d4e5f60718293"
ADMIN = "a81c5e0f7d2b43968e1f0c7a5d3b2914"
SETTINGS = Settings(cron_secrets=(TOKEN, OLD_TOKEN), admin_secrets=(ADMIN,))


@dataclass(slots=True)
class Ticks:
    """Stands where the engine stands: remembers what it was asked, and answers what it was told to."""

    asked: list[tuple[TickRequest, Caller]] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)
    go_on: threading.Event | None = None
    fails_with: Exception | None = None

    def forget(self) -> None:
        """As new, for the next test."""
        self.__init__()  # type: ignore[misc]

    async def run(self, request: TickRequest, caller: Caller, stop: Stop) -> Summary:
        self.asked.append((request, caller))
        self.begun.set()
        while self.go_on is not None and not self.go_on.is_set() and not stop.asked:  # noqa: ASYNC110 (another thread's)
            await asyncio.sleep(0.005)
        self.ended.set()
        if self.fails_with is not None:
            raise self.fails_with
        return Summary(trigger=caller.trigger, tick=1, stop_reason="shutdown" if stop.asked else "empty")

    async def check_ready(self) -> None:
        if self.fails_with is not None:
            raise self.fails_with


def app_of(ticks: Ticks, settings: Settings = SETTINGS) -> ASGIApp:
    return create_app(settings, run_tick=ticks.run, check_ready=ticks.check_ready)


@contextmanager
def served(app: ASGIApp) -> Iterator[tuple[str, int]]:
    """The address of the application while it is served."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None))
    listening = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, object]:
        decoded = json.loads(self.body)
        assert isinstance(decoded, dict)
        return decoded


def head(method: str = "POST", path: str = "/cron/tick", *headers: str, token: str | None = TOKEN) -> bytes:
    """The head of a request, with the right token unless told otherwise."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *headers]
    if token is not None:
        lines.append(f"Authorization: Bearer {token}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def exchange(address: tuple[str, int], *pieces: bytes) -> Answer:
    """Send the pieces and read one response."""
    with socket.create_connection(address, timeout=20) as connection:
        for piece in pieces:
            connection.sendall(piece)
        return read_answer(connection)


def read_answer(connection: socket.socket, received: bytes = b"") -> Answer:
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head_, _, body = received.partition(b"\r\n\r\n")
    status_line, *lines = head_.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += _more(connection)
    return Answer(int(status_line.split()[1]), headers, body)


def _more(connection: socket.socket) -> bytes:
    piece = connection.recv(65536)
    if not piece:
        raise ConnectionError("the server closed the connection in the middle of its answer")
    return piece
