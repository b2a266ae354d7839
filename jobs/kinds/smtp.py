"""One mail over SMTP, with what is known at each step of whether it can have arrived."""

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import parse_qs, unquote, urlsplit

from crontick.jobs.outbound import NotConnected, Unanswered

if TYPE_CHECKING:
    import aiosmtplib

__all__ = ["Envelope", "MailServer", "Said", "SmtpUrlError", "deliver", "mail_server"]

_GOODBYE_SECONDS: Final = 1.0
_PORTS: Final = {"smtp": 25, "smtps": 465}
_CONFIGURATION: Final = frozenset({530, 534, 535, 538})
"""The server wants another login or encryption: the recipient has nothing to do with it."""
_STARTTLS: Final = ("required", "optional", "never")
Step = Literal["greeting", "login", "sender", "recipient", "data"]


class SmtpUrlError(ValueError):
    """The URL of the mail server cannot be used; the message does not quote it."""


class Said(Exception):
    """A server's no, which proves that nothing was delivered: its code, at which step, and its words."""

    nothing_sent = True

    def __init__(self, code: int, step: Step, words: str) -> None:
        super().__init__(f"{code} {words}")
        self.code = code
        self.step = step

    @property
    def temporary(self) -> bool:
        """Whether to try again: 4xx, and whatever is not about this message but about us or the server.

        552 for a recipient is to be read as 452 (RFC 5321, 4.5.3.1.10).
        """
        return (
            self.code < 500
            or self.step in ("greeting", "login")
            or self.code in _CONFIGURATION
            or (self.step == "recipient" and self.code == 552)
        )


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where mail is handed in."""

    host: str
    port: int
    tls: bool
    starttls: bool | None
    user: str | None = field(repr=False)
    password: str | None = field(repr=False)


@dataclass(slots=True)
class Envelope:
    """From whom and to whom; ``begun`` from when the content may have arrived."""

    sender: str
    recipients: Sequence[str]
    begun: bool = False


def mail_server(url: str) -> MailServer:
    """What ``smtp://user:password@host:587`` or ``smtps://…:465`` says, the login URL-encoded. Raises ``SmtpUrlError``.

    ``?starttls=required``, ``optional`` or ``never``: with a password it is required unless this says otherwise, so
    that whoever sits in between cannot have it by cutting out the offer.
    """
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname
    except ValueError:
        raise SmtpUrlError("cannot be read as a URL: write smtp://user:password@host:587") from None
    if parts.scheme not in _PORTS or not host:
        raise SmtpUrlError("is no mail server's URL: write smtp://user:password@host:587 or smtps://…")
    password = None if parts.password is None else unquote(parts.password)
    [said] = parse_qs(parts.query).get("starttls", ["required" if password else "optional"])
    if said not in _STARTTLS:
        raise SmtpUrlError("has a starttls that is not required, optional or never")
    tls = parts.scheme == "smtps"
    return MailServer(
        host=host,
        port=port or (587 if password and not tls else _PORTS[parts.scheme]),
        tls=tls,
        starttls=False if tls or said == "never" else True if said == "required" else None,
        user=None if parts.username is None else unquote(parts.username),
        password=password,
    )


async def deliver(server: MailServer, envelope: Envelope, content: bytes, *, seconds: float) -> Mapping[str, Said]:
    """Hand the mail in within ``seconds``; the answer has the recipients that were refused beside others that were not.

    Raises ``Said`` when the server said no (to all recipients: its milder no), ``NotConnected``, or ``Unanswered`` when
    the connection was lost or silent after the content went off.
    """
    import aiosmtplib

    client = aiosmtplib.SMTP(
        hostname=server.host,
        port=server.port,
        use_tls=server.tls,
        start_tls=server.starttls,
        username=server.user,
        password=server.password,
        local_hostname=envelope.sender.rpartition("@")[2],
        tls_context=_certificates(),
        timeout=seconds,
    )
    try:
        async with asyncio.timeout(seconds):
            refused = await _hand_in(client, envelope, content)
    except (TimeoutError, OSError, ValueError, aiosmtplib.SMTPException) as error:
        client.close()
        raise _failure(error, envelope, server) from None
    except BaseException:
        client.close()
        raise
    with suppress(OSError, TimeoutError, aiosmtplib.SMTPException):
        async with asyncio.timeout(_GOODBYE_SECONDS):
            await client.quit()
    client.close()
    return refused


async def _hand_in(client: "aiosmtplib.SMTP", envelope: Envelope, content: bytes) -> Mapping[str, Said]:
    import aiosmtplib

    await client.connect()
    await client.mail(envelope.sender)
    refused: dict[str, Said] = {}
    for recipient in envelope.recipients:
        try:
            await client.rcpt(recipient)
        except aiosmtplib.SMTPRecipientRefused as error:
            refused[recipient] = Said(error.code, "recipient", error.message)
    if len(refused) == len(envelope.recipients):
        raise max(refused.values(), key=lambda said: said.temporary)
    envelope.begun = True
    await client.data(content)
    return refused


def _failure(error: Exception, envelope: Envelope, server: MailServer) -> Exception:
    import aiosmtplib

    match error:
        case aiosmtplib.SMTPSenderRefused():
            return Said(error.code, "sender", error.message)
        case aiosmtplib.SMTPDataError():
            return Said(error.code, "data", error.message)
        case aiosmtplib.SMTPAuthenticationError():
            return Said(error.code, "login", error.message)
        case aiosmtplib.SMTPResponseException() if not envelope.begun and error.code > 0:
            return Said(error.code, "greeting", error.message)
    late = isinstance(error, TimeoutError)
    if envelope.begun:
        return Unanswered(
            f"no answer in time from {server.host}" if late else f"the connection to {server.host} broke off"
        )
    if isinstance(error, aiosmtplib.SMTPNotSupported):
        return NotConnected(f"{server.host} offers no encryption or no login, which its URL asks for")
    return NotConnected(f"no connection in time to {server.host}" if late else f"no connection to {server.host}")


@cache
def _certificates() -> ssl.SSLContext:
    """One for the process: making one takes 20 ms."""
    return ssl.create_default_context()
