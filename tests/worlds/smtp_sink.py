"""A mail server on loopback that keeps what it gets and answers as it is told."""

import asyncio
import email
import email.policy
import ssl
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from functools import partial

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from tests.worlds.background import background

CUT = "cut"
"""In place of a reply: the connection is cut off, without one."""


@dataclass(frozen=True, slots=True)
class Mail:
    """One message as it was accepted."""

    sender: str
    recipients: tuple[str, ...]
    raw: bytes
    peer: object = None
    """The other end of the connection that it came over."""

    @property
    def message(self) -> EmailMessage:
        return email.message_from_bytes(self.raw, policy=email.policy.default)


@dataclass  # no slots: aiosmtpd reads every member, and Python 3.11.2 fails on a slotted dataclass's __weakref__
class SmtpSink:
    """``replies["DATA"].append("451 4.3.0 later")`` answers the next one so; ``seen`` has what it refused too."""

    port: int = 0
    user: tuple[str, str] | None = None
    """Who may send, and the password; everybody where this is None."""
    logins: int = 0
    goodbyes: int = 0
    taken: Callable[[], None] | None = None
    """Called when a mail was taken, before its sender knows."""
    mails: list[Mail] = field(default_factory=list)
    seen: list[Mail] = field(default_factory=list)
    replies: dict[str, deque[str]] = field(default_factory=lambda: {name: deque() for name in ("MAIL", "RCPT", "DATA")})

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.port}"

    async def handle_MAIL(  # noqa: N802 (aiosmtpd calls it)
        self, server: SMTP, _session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        reply = self._reply("MAIL", server)
        if reply.startswith("2"):
            envelope.mail_from = address
            envelope.mail_options.extend(options)
        return reply

    async def handle_RCPT(  # noqa: N802 (aiosmtpd calls it)
        self, server: SMTP, _session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        reply = self._reply("RCPT", server)
        if reply.startswith("2"):
            envelope.rcpt_tos.append(address)
            envelope.rcpt_options.extend(options)
        return reply

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 (aiosmtpd calls it)
        assert isinstance(envelope.content, bytes)
        mail = Mail(envelope.mail_from or "", tuple(envelope.rcpt_tos), envelope.content, session.peer)
        self.seen.append(mail)
        reply = self._reply("DATA", server)
        if reply.startswith("2"):
            if self.taken is not None:
                self.taken()
            self.mails.append(mail)
        return reply

    async def handle_QUIT(self, _server: SMTP, _session: Session, _envelope: Envelope) -> str:  # noqa: N802 (the same)
        self.goodbyes += 1
        return "221 bye"

    def authenticate(
        self, _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, data: LoginPassword
    ) -> AuthResult:
        self.logins += 1
        said = (data.login.decode(), data.password.decode())
        return AuthResult(success=said == self.user, handled=False)

    def _reply(self, verb: str, server: SMTP) -> str:
        reply = self.replies[verb].popleft() if self.replies[verb] else "250 2.0.0 OK"
        if reply == CUT:
            assert server.transport is not None
            server.transport.close()
        return reply


@contextmanager
def smtp_sink(
    *, user: tuple[str, str] | None = None, starttls: ssl.SSLContext | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[SmtpSink]:
    """Open to everybody, or, over an encrypted connection, to that user."""
    sink = SmtpSink(user=user)
    protocol = partial(
        SMTP,
        sink,
        hostname="sink.example",
        enable_SMTPUTF8=True,
        tls_context=starttls,
        authenticator=sink.authenticate,
        auth_required=user is not None and tls is None,  # aiosmtpd warns of the other, not knowing of the TLS below it
        auth_require_tls=tls is None,
    )
    with background() as thread:

        async def listen() -> asyncio.Server:
            return await thread.loop.create_server(partial(protocol, loop=thread.loop), "127.0.0.1", 0, ssl=tls)

        server = thread.run(listen())
        sink.port = server.sockets[0].getsockname()[1]
        try:
            yield sink
        finally:
            thread.loop.call_soon_threadsafe(server.close)
