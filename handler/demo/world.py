"""What stands around the demo: receivers of webhooks, which can be down."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Receiver:
    """Answers ``status`` to whatever is posted to a path, and keeps what it answered 2xx."""

    port: int = 0
    status: dict[str, int] = field(default_factory=dict)
    asked: list[tuple[str, int]] = field(default_factory=list)
    kept: list[tuple[str, str, bytes]] = field(default_factory=list)

    def answer(self, path: str, webhook_id: str, body: bytes) -> int:
        """The status for one POST, which is kept if that is 2xx."""
        status = self.status.get(path, 204)
        self.asked.append((path, status))
        if status < 300:
            self.kept.append((path, webhook_id, body))
        return status

    def delivered(self, path: str) -> int:
        """How many different events arrived there."""
        return len({webhook_id for kept_path, webhook_id, _ in self.kept if kept_path == path})


@contextmanager
def receiver() -> Iterator[Receiver]:
    """A real HTTP server on a free port of the loopback."""
    state = Receiver()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(state.answer(self.path, self.headers.get("webhook-id", ""), body))
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the library's name)
            """The demo tells its own story."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
