"""The connections to mail servers of one tick: used for one mail after another, never for two at once."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from crontick.jobs.kinds.held import BUSY_SECONDS, WAITING_SHARE, Held
from crontick.jobs.kinds.smtp import Accepted, Envelope, Said, failure, hand_in, opened
from crontick.jobs.kinds.smtp_url import MailServer
from crontick.jobs.outbound import NotConnected

if TYPE_CHECKING:
    import aiosmtplib

__all__ = ["THROTTLED_SECONDS", "Connections"]

_GOODBYE_SECONDS: Final = 1.0
THROTTLED_SECONDS: Final = 600.0


class _Line:
    """One server: its free connections, and what it thinks of us."""

    def __init__(self, most: int) -> None:
        self.room = asyncio.Semaphore(most)
        self.idle: list[aiosmtplib.SMTP] = []
        self.first = asyncio.Lock()
        """Held while nobody knows whether the login is right: many wrong ones at once lock the account."""
        self.proven = False
        self.unfit: Said | None = None
        self.throttled = False


class Connections:
    """Made once a tick, and closed with it."""

    def __init__(self) -> None:
        self._lines: dict[MailServer, _Line] = {}

    async def deliver(
        self, server: MailServer, envelope: Envelope, content: bytes, *, seconds: float, most: int = 20
    ) -> Accepted:
        """Hand the mail in within ``seconds``, over one of ``most`` connections.

        Raises ``Held``, and what ``failure`` says: ``Said``, ``NotConnected`` or ``Unanswered``. A connection that the
        server ended between two mails is opened again; what it said of our login is said to all, and asked once.
        """
        line = self._lines.setdefault(server, _Line(most))
        until = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout(seconds * WAITING_SHARE):
                await line.room.acquire()
        except TimeoutError:
            raise Held(BUSY_SECONDS) from None
        try:
            async with asyncio.timeout_at(until):
                return await self._delivered(line, server, envelope, content)
        except TimeoutError as error:
            raise failure(error, envelope, server) from None
        finally:
            line.room.release()

    async def _delivered(self, line: _Line, server: MailServer, envelope: Envelope, content: bytes) -> Accepted:
        import aiosmtplib

        while True:
            try:
                client, used = await _taken(line, server, envelope.sender)
                try:
                    accepted = await hand_in(client, envelope, content)
                except BaseException as error:
                    await _left(line, client, error)
                    if used and not envelope.begun and _gone(error):
                        continue
                    raise
            except (OSError, ValueError, aiosmtplib.SMTPException, NotConnected, Said) as error:
                if isinstance(error, TimeoutError):
                    raise
                raise _learnt(line, failure(error, envelope, server)) from None
            line.idle.append(client)
            return accepted

    async def aclose(self) -> None:
        """Say goodbye on all of them at once."""
        idle = [client for line in self._lines.values() for client in line.idle]
        self._lines.clear()
        await asyncio.gather(*map(_goodbye, idle))


async def _taken(line: _Line, server: MailServer, sender: str) -> tuple["aiosmtplib.SMTP", bool]:
    """A connection, and whether it was used before."""
    _check(line)
    while line.idle:
        client = line.idle.pop()
        if client.is_connected:
            return client, True
        client.close()
    if line.proven:
        return await opened(server, sender), False
    async with line.first:
        _check(line)
        try:
            client = await opened(server, sender)
        except Exception as error:
            _learnt(line, failure(error, Envelope(sender, ()), server))
            raise
        line.proven = True
        return client, False


def _check(line: _Line) -> None:
    if line.unfit is not None:
        raise Said(line.unfit.code, line.unfit.step, line.unfit.words)
    if line.throttled:
        raise Held(THROTTLED_SECONDS)


def _learnt(line: _Line, error: Exception) -> Exception:
    """The error itself, of which the other mails of this tick profit."""
    if isinstance(error, Said):
        if error.unfit:
            line.unfit = error
        line.throttled = line.throttled or error.throttled
    return error


def _gone(error: BaseException) -> bool:
    """Whether the server had ended the connection, as it may between two mails."""
    import aiosmtplib

    if isinstance(error, aiosmtplib.SMTPResponseException):
        return error.code == 421
    return isinstance(error, aiosmtplib.SMTPServerDisconnected)


async def _left(line: _Line, client: "aiosmtplib.SMTP", error: BaseException) -> None:
    """After a plain no the connection serves the next mail; after anything else nobody knows where it stands."""
    import aiosmtplib

    no = isinstance(error, Said | aiosmtplib.SMTPResponseException) and error.code >= 400
    if no and not _gone(error) and client.is_connected:
        with suppress(OSError, TimeoutError, aiosmtplib.SMTPException):
            async with asyncio.timeout(_GOODBYE_SECONDS):
                await client.rset()
                line.idle.append(client)
                return
    client.close()


async def _goodbye(client: "aiosmtplib.SMTP") -> None:
    import aiosmtplib

    with suppress(OSError, TimeoutError, aiosmtplib.SMTPException):
        async with asyncio.timeout(_GOODBYE_SECONDS):
            await client.quit()
    client.close()
