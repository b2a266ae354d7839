"""An HTTP receiver on loopback that answers byte for byte what it is told, however wrong."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

Answering = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass(slots=True)
class Received:
    """One request as it came."""

    target: str
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """The only header of that name."""
        [value] = [value for said, value in self.headers if said.lower() == name]
        return value


@dataclass(slots=True)
class Receiver:
    """``answers``: bytes or a coroutine function, used up in order, the last one for ever."""

    port: int = 0
    connections: int = 0
    requests: list[Received] = field(default_factory=list)
    answers: list[bytes | Answering] = field(default_factory=lambda: [status(200)])

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while True:
                self.requests.append(await _request(reader))
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if callable(answer):
                    await answer(writer)
                    break
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


async def _request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = [(name, value.strip()) for name, _, value in (line.partition(":") for line in head[1:] if line)]
    length = int({name.lower(): value for name, value in headers}.get("content-length", "0"))
    return Received(head[0].split(" ")[1], headers, await reader.readexactly(length))


def status(code: int, headers: tuple[tuple[str, str], ...] = (), body: bytes = b"") -> bytes:
    """A plain answer."""
    lines = [f"HTTP/1.1 {code} X", f"Content-Length: {len(body)}", *(f"{name}: {value}" for name, value in headers)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


@asynccontextmanager
async def receiver(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """Listening while the block lasts."""
    made = Receiver()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=tls)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
