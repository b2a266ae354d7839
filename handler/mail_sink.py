"""A mail server that keeps what it gets and sends nothing to anybody."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from crontick.handler.loopback import HOST, free_port

Arrived = Callable[[EmailMessage], None]


@dataclass  # no slots: aiosmtpd reads every member, and Python 3.11.2 fails on a slotted dataclass's __weakref__
class MailSink:
    """Mails in the order of their arrival, each of which is also told to ``arrived``."""

    port: int
    arrived: Arrived | None = None
    mails: list[EmailMessage] = field(default_factory=list)

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802 (aiosmtpd's)
        """Keep a mail."""
        mail = message_from_bytes(envelope.original_content or b"", EmailMessage, policy=default)
        self.mails.append(mail)
        if self.arrived is not None:
            self.arrived(mail)
        return "250 kept"

    def to(self, address: str) -> list[str]:
        """Subjects of the mails to that address."""
        return [str(mail["subject"]) for mail in self.mails if address in str(mail["to"])]

    @property
    def url(self) -> str:
        """Where it listens, as ``SMTP_URL`` has it."""
        return f"smtp://{HOST}:{self.port}"


@contextmanager
def mail_sink(arrived: Arrived | None = None) -> Iterator[MailSink]:
    """A real SMTP server on a free port of the loopback."""
    sink = MailSink(free_port(), arrived)
    controller = Controller(sink, hostname=HOST, port=sink.port)
    controller.start()
    try:
        yield sink
    finally:
        controller.stop()
