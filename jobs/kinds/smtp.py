"""One mail over an SMTP connection, with what is known at each step of whether it can have arrived."""

import asyncio
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from crontick.jobs.kinds.smtp_url import MailServer
from crontick.jobs.outbound import NotConnected, Unanswered
from crontick.jobs.resolve import resolve

if TYPE_CHECKING:
    import aiosmtplib

__all__ = ["Accepted", "Envelope", "Said", "failure", "hand_in", "opened"]

_ADDRESSES_TRIED: Final = 4
_CONFIGURATION: Final = frozenset({530, 534, 535, 538})
"""The server wants another login or encryption: the recipient has nothing to do with it."""
_NOT_AVAILABLE: Final = 421
"""The service is closing, at whichever step (RFC 5321, 3.8)."""
Step = Literal["greeting", "login", "sender", "recipient", "data"]


class Said(Exception):
    """A server's no, which proves that nothing was delivered: its code, at which step, and its words."""

    nothing_sent = True

    def __init__(self, code: int, step: Step, words: str) -> None:
        super().__init__(f"{code} {words}")
        self.code = code
        self.step = step
        self.words = words

    @property
    def unfit(self) -> bool:
        """The server takes nothing from this deployment: login, encryption or rights are not what it wants."""
        return self.step == "login" or self.code in _CONFIGURATION

    @property
    def throttled(self) -> bool:
        """The server wants less of all our mail, as SES says when its quota is used up."""
        return "throttl" in self.words.lower()

    @property
    def of_the_server(self) -> bool:
        """It takes no mail at all of us just now, whoever it is for."""
        return self.unfit or self.throttled or self.step == "greeting" or self.code == _NOT_AVAILABLE

    @property
    def temporary(self) -> bool:
        """Whether to try again: 4xx, and whatever is not about this message but about us or the server.

        552 for a recipient is to be read as 452 (RFC 5321, 4.5.3.1.10).
        """
        return (
            self.code < 500 or self.unfit or self.step == "greeting" or (self.step == "recipient" and self.code == 552)
        )


@dataclass(slots=True)
class Envelope:
    """From whom and to whom; ``begun`` from when the content may have arrived."""

    sender: str
    recipients: Sequence[str]
    begun: bool = False


class Accepted(msgspec.Struct, frozen=True):
    """The server's yes in its own words, and the recipients that it refused beside others that it took."""

    words: str
    refused: Mapping[str, Said]


async def opened(server: MailServer, sender: str) -> "aiosmtplib.SMTP":
    """A connection that is encrypted and logged in as its URL says. Raises what ``failure`` reads; bound its time."""
    import aiosmtplib

    client = aiosmtplib.SMTP(
        hostname=server.host,
        use_tls=server.tls,
        start_tls=False,
        local_hostname=sender.rpartition("@")[2],
        tls_context=_certificates(),
        timeout=None,
    )
    try:
        client.sock = await _connected(server)
        await client.connect()
        await _log_in(client, server)
    except BaseException:
        client.close()
        raise
    return client


async def _connected(server: MailServer) -> socket.socket:
    """A socket to the first address that answers; the name is resolved on a thread of our own."""
    failed: OSError = OSError("no address")
    for address in (await resolve(server.host, server.port))[:_ADDRESSES_TRIED]:
        made = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        made.settimeout(0)
        try:
            await asyncio.get_running_loop().sock_connect(made, (address, server.port))
        except OSError as error:
            made.close()
            failed = error
        except BaseException:
            made.close()
            raise
        else:
            return made
    raise failed


async def _log_in(client: "aiosmtplib.SMTP", server: MailServer) -> None:
    await client.ehlo()
    if client.supports_extension("starttls") and server.starttls is not False:
        await client.starttls()
        await client.ehlo()  # what was offered before is forgotten: anybody could have said it
    elif server.starttls:
        raise NotConnected(f"{server.host} offers no encryption, which its URL asks for")
    if server.user is not None:
        await _by_one_mechanism(client, server, server.user)


async def _by_one_mechanism(client: "aiosmtplib.SMTP", server: MailServer, user: str) -> None:
    """Not by one after another, as ``client.login`` does: three wrong logins for one may lock the account."""
    offered = client.supported_auth_methods
    ways = {"plain": client.auth_plain, "login": client.auth_login, "cram-md5": client.auth_crammd5}
    way = next((ways[name] for name in ways if name in offered), None)
    if way is None:
        raise NotConnected(f"{server.host} offers no login by PLAIN, LOGIN or CRAM-MD5, and its URL has a user")
    await way(user, server.password or "")


async def hand_in(client: "aiosmtplib.SMTP", envelope: Envelope, content: bytes) -> Accepted:
    """One mail over this connection. Raises what ``failure`` reads, and ``Said`` when all recipients are refused."""
    import aiosmtplib

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
    return Accepted((await client.data(content)).message, refused)


def failure(error: Exception, envelope: Envelope, server: MailServer) -> Exception:
    """What an error of the conversation says of the mail.

    ``Said`` when the server said no (to all recipients: its milder no), ``NotConnected``, or ``Unanswered`` when the
    connection was lost or silent after the content went off.
    """
    import aiosmtplib

    match error:
        case Said() | NotConnected():
            return error
        case aiosmtplib.SMTPSenderRefused():
            return Said(error.code, "sender", error.message)
        case aiosmtplib.SMTPDataError() if error.code >= 400:  # only that is a no: some servers say yes by 251
            return Said(error.code, "data", error.message)
        case aiosmtplib.SMTPAuthenticationError():
            return Said(error.code, "login", error.message)
        case aiosmtplib.SMTPResponseException() if not envelope.begun and error.code > 0:
            return Said(error.code, "greeting", error.message)
    late = isinstance(error, TimeoutError)
    if isinstance(error, aiosmtplib.SMTPDataError):
        return Unanswered(f"{error.code} from {server.host}, which is neither yes nor no")
    if envelope.begun:
        return Unanswered(
            f"no answer in time from {server.host}" if late else f"the connection to {server.host} broke off"
        )
    return NotConnected(f"no connection in time to {server.host}" if late else f"no connection to {server.host}")


@cache
def _certificates() -> ssl.SSLContext:
    """One for the process: making one takes 20 ms."""
    return ssl.create_default_context()
