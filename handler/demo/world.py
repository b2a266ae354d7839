"""What stands around the demo: a mail server that keeps what it gets, and receivers of webhooks that can be down."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import Message
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from crontick.handler.demo.servers import free_port


@dataclass  # no slots: aiosmtpd reads every member, and Python 3.11.2 fails on a slotted dataclass's __weakref__
class MailSink:
    """Mails in the order of their arrival."""

    port: int = 0
    mails: list[Message] = field(default_factory=list)

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 (aiosmtpd's)
        """Keep a mail."""
        self.mails.append(message_from_bytes(envelope.original_content or b"", policy=default))
        return "250 kept"

    def to(self, address: str) -> list[str]:
        """Subjects of the mails to that address."""
        return [str(mail["subject"]) for mail in self.mails if address in str(mail["to"])]


@contextmanager
def mail_sink() -> Iterator[MailSink]:
    """A real SMTP server on a free port of the loopback."""
    sink = MailSink(port=free_port())
    controller = Controller(sink, hostname="127.0.0.1", port=sink.port)
    controller.start()
    try:
        yield sink
    finally:
        controller.stop()


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
