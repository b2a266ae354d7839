"""A bad network in front of PostgreSQL, which also counts the round trips."""

import asyncio
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit, urlunsplit

from tests.worlds.background import Background, background

_READY = b"Z\x00\x00\x00\x05"
_TERMINATE = b"X\x00\x00\x00\x04"
_SILENCE_SECONDS = 0.05
_ROOM = 2**20
"""So that one question arrives in one piece and is counted once."""


@dataclass(slots=True, eq=False)
class _Link:
    """One client's connection, and ours to the server."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    connected: bool = False
    server_spoke: bool = True

    def cut(self) -> None:
        """Reset both sides: the client reads ECONNRESET, not an orderly end."""
        for writer in (self.client, self.server):
            raw = writer.get_extra_info("socket")
            if raw is not None and raw.family != socket.AF_UNIX and raw.fileno() >= 0:
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()


@dataclass(slots=True, eq=False)
class Proxy:
    """Set what shall go wrong at any moment, from any thread; it holds for open connections too."""

    url: str
    """The database, seen through the proxy."""
    latency_seconds: float = 0
    """How late each piece arrives, in either direction."""
    black_hole: bool = False
    """Connections are accepted and stay open, and every byte is lost."""
    cut_after: int | None = None
    """How many more bytes the clients will get; then the connection is reset."""
    lose_next_answer: bool = False
    """The server does what it is asked next, and the connection is reset before a byte of the answer arrives."""
    round_trips: int = 0
    """How often a client spoke after the server did; logging in and saying good-bye are not counted."""
    connections: int = 0
    _links: set[_Link] = field(default_factory=set)
    _background: Background | None = None

    def reset(self) -> None:
        """Cut all connections now."""
        assert self._background is not None
        self._background.run(self._cut_all())

    async def _cut_all(self) -> None:
        for link in list(self._links):
            link.cut()

    async def _serve(self, upstream: str, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        try:
            server, to_server = await _open(upstream)
        except OSError:
            to_client.transport.abort()
            return
        link = _Link(to_client, to_server)
        self.connections += 1
        self._links.add(link)
        pumps = [asyncio.create_task(self._ask(client, link)), asyncio.create_task(self._answer(server, link))]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(self.latency_seconds)  # the last words are still on their way
        finally:
            self._links.discard(link)
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)
            for writer in (to_client, to_server):
                writer.close()

    async def _ask(self, client: asyncio.StreamReader, link: _Link) -> None:
        while piece := await _read(client):
            if link.connected and link.server_spoke and piece != _TERMINATE:
                self.round_trips += 1
            link.server_spoke = False
            await self._pass_on(piece, link.server)

    async def _answer(self, server: asyncio.StreamReader, link: _Link) -> None:
        while piece := await _read(server):
            link.server_spoke = True
            if self.lose_next_answer and link.connected:
                await _swallow(server, piece)
                self.lose_next_answer = False
                return link.cut()
            link.connected = link.connected or _READY in piece
            if self.cut_after is not None:
                piece, self.cut_after = piece[: self.cut_after], self.cut_after - len(piece)
            await self._pass_on(piece, link.client)
            if self.cut_after is not None and self.cut_after <= 0:
                self.cut_after = None
                await link.client.drain()
                return link.cut()
        return None

    async def _pass_on(self, piece: bytes, writer: asyncio.StreamWriter) -> None:
        if self.black_hole:
            return
        if self.latency_seconds:
            asyncio.get_running_loop().call_later(self.latency_seconds, _write, writer, piece)
            return
        _write(writer, piece)
        with suppress(OSError):
            await writer.drain()


@contextmanager
def proxy(url: str) -> Iterator[Proxy]:
    """A proxy on loopback in front of the database at ``url``."""
    with background() as thread:

        async def listen() -> tuple[asyncio.Server, int]:
            server = await asyncio.start_server(lambda r, w: made._serve(url, r, w), "127.0.0.1", 0, limit=_ROOM)
            return server, server.sockets[0].getsockname()[1]

        made = Proxy("", _background=thread)
        server, port = thread.run(listen())
        parts = urlsplit(url)
        made.url = urlunsplit(parts._replace(netloc=f"{parts.username or 'postgres'}@127.0.0.1:{port}", query=""))
        try:
            yield made
        finally:
            thread.loop.call_soon_threadsafe(server.close)
            made.reset()


async def _open(url: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    folder = parse_qs(parts.query).get("host", [""])[0]
    if folder:
        return await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.{parts.port or 5432}")
    return await asyncio.open_connection(parts.hostname or "127.0.0.1", parts.port or 5432)


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(_ROOM)
    except OSError:
        return b""


async def _swallow(server: asyncio.StreamReader, piece: bytes) -> None:
    """Read until the server has answered everything: one that is cut off sooner breaks off what it was doing."""
    while True:
        try:
            async with asyncio.timeout(_SILENCE_SECONDS if _READY in piece[-6:] else 10):
                piece = await _read(server)
        except TimeoutError:
            return
        if not piece:
            return


def _write(writer: asyncio.StreamWriter, piece: bytes) -> None:
    if not writer.is_closing():
        writer.write(piece)
