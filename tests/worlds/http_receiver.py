"""An HTTP server on loopback that records what it gets, byte for byte, and behaves as it is told."""

import asyncio
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.worlds.background import background


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came."""

    head: bytes
    body: bytes

    @property
    def method(self) -> str:
        return self.head.split(b" ", 1)[0].decode()

    @property
    def target(self) -> str:
        return self.head.split(b" ", 2)[1].decode()

    @property
    def headers(self) -> dict[str, str]:
        """By lower-case name; the last of several."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }


@dataclass(frozen=True, slots=True)
class Answer:
    """How a request is answered."""

    status: int = 200
    body: bytes = b"ok"
    headers: Mapping[str, str] = field(default_factory=dict)
    drip_seconds: float = 0
    """The pause before each byte of the body."""
    hang: bool = False
    """No answer, ever; the connection stays open."""
    close: bool = False
    """No answer; the connection is closed."""

    @property
    def head(self) -> bytes:
        headers = {"content-length": str(len(self.body)), "connection": "close", **self.headers}
        lines = [f"HTTP/1.1 {self.status} Told", *(f"{name}: {value}" for name, value in headers.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


@dataclass(slots=True)
class HttpReceiver:
    """``answers`` are used up one a request, then ``act`` answers where there is one, else ``otherwise``."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)
    connections: int = 0
    answers: deque[Answer] = field(default_factory=deque)
    otherwise: Answer = field(default_factory=Answer)
    act: Callable[[Request], Awaitable[Answer]] | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            request = await _read(reader)
            self.requests.append(request)
            await _give(await self._answer(request), reader, writer)
        writer.close()

    async def _answer(self, request: Request) -> Answer:
        if self.answers:
            return self.answers.popleft()
        return self.otherwise if self.act is None else await self.act(request)


async def _read(reader: asyncio.StreamReader) -> Request:
    head = await reader.readuntil(b"\r\n\r\n")
    headers = Request(head, b"").headers
    if headers.get("transfer-encoding") != "chunked":
        return Request(head, await reader.readexactly(int(headers.get("content-length", "0"))))
    body = b""
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    return Request(head, body)


async def _give(answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    if answer.hang:
        await reader.read()  # until the caller hangs up
    if answer.hang or answer.close:
        return
    writer.write(answer.head)
    if not answer.drip_seconds:
        writer.write(answer.body)
    for position in range(len(answer.body) if answer.drip_seconds else 0):
        await asyncio.sleep(answer.drip_seconds)
        writer.write(answer.body[position : position + 1])
        await writer.drain()
    await writer.drain()


@contextmanager
def http_receiver(*, tls: ssl.SSLContext | None = None, port: int = 0) -> Iterator[HttpReceiver]:
    """A receiver on 127.0.0.1; with ``tls`` (trustme makes such contexts) it speaks https."""
    receiver = HttpReceiver()
    with background() as thread:
        server = thread.run(asyncio.start_server(receiver.serve, "127.0.0.1", port, ssl=tls))
        port = server.sockets[0].getsockname()[1]
        receiver.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
        try:
            yield receiver
        finally:
            thread.loop.call_soon_threadsafe(server.close)
