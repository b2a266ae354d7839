"""Resend's API on loopback, as far as its documentation goes: one mail for each idempotency key."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.worlds.background import background

CUT = "cut"
"""In place of an answer: the mail is taken, and the connection cut."""
SILENCE = "silence"
"""The mail is taken, and nothing is said."""
DEAF = "deaf"
"""Nothing is said, and no mail was taken."""
LOST = "lost"
"""The connection is cut, and no mail was taken."""
API_KEY = "re_stub_1234567890"


@dataclass(slots=True)
class ResendStub:
    """``answers`` are used up in order: one of the words above, or a status, an error's name and headers."""

    port: int = 0
    mails: list[dict[str, Any]] = field(default_factory=list)
    requests: list[tuple[str, bytes]] = field(default_factory=list)
    """Idempotency key and body of each request that had the right API key."""
    answers: deque[str | tuple[int, str, dict[str, str]]] = field(default_factory=deque)
    taken: Callable[[], None] | None = None
    """Called when a mail was taken, before its sender knows."""
    _known: dict[str, tuple[bytes, str]] = field(default_factory=dict)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                said = dict(line.lower().split(": ", 1) for line in head[1:] if line)
                body = await reader.readexactly(int(said.get("content-length", "0")))
                told = self._answered(head[0], said, body)
                if told in (SILENCE, DEAF):
                    await reader.read()
                if isinstance(told, str):
                    break
                status, answer, headers = told
                content = json.dumps(answer).encode()
                lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}"]
                lines += [f"{name}: {value}" for name, value in headers.items()]
                writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answered(
        self, line: str, said: dict[str, str], body: bytes
    ) -> str | tuple[int, dict[str, Any], dict[str, str]]:
        if line != "POST /emails HTTP/1.1":
            return _error(404, "not_found")
        if said.get("authorization") != f"bearer {API_KEY}":
            return _error(403, "invalid_api_key")
        key = said["idempotency-key"]
        self.requests.append((key, body))
        scripted = self.answers.popleft() if self.answers else None
        if isinstance(scripted, tuple):
            return _error(*scripted)
        if scripted in (LOST, DEAF):
            return scripted
        if key in self._known and self._known[key][0] != body:
            return _error(409, "invalid_idempotent_request")
        if key not in self._known:
            if self.taken is not None:
                self.taken()
            self._known[key] = (body, f"id-{len(self.mails) + 1}")
            self.mails.append(json.loads(body))
        return scripted or (200, {"id": self._known[key][1]}, {})


def _error(status: int, name: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any], dict[str, str]]:
    return status, {"statusCode": status, "name": name, "message": f"hunter2 {name}"}, headers or {}


@contextmanager
def resend_stub() -> Iterator[ResendStub]:
    stub = ResendStub()
    with background() as thread:

        async def listen() -> asyncio.Server:
            return await asyncio.start_server(stub.serve, "127.0.0.1", 0)

        server = thread.run(listen())
        stub.port = server.sockets[0].getsockname()[1]
        try:
            yield stub
        finally:
            thread.loop.call_soon_threadsafe(server.close)
