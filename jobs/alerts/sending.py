"""What a tick has to tell, told over its channels, and written down that it was."""

import asyncio
import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import msgspec
import psycopg

from crontick.jobs.alerts.message import Message
from crontick.jobs.deployment import Deployment
from crontick.jobs.link import Trips
from crontick.jobs.tick_secrets import TickSecrets
from crontick.sql import query
from crontick.sql.wire import Statement, statement

if TYPE_CHECKING:
    import httpx

__all__ = ["send_alerts"]

ALERT_URL: Final = "CRONTICK_ALERT_URL"
_LONGEST_SECONDS: Final = 8.0
log: Final = logging.getLogger("crontick.tick")


class _Told(msgspec.Struct, frozen=True):
    """What became of one message; no error is told."""

    alert: int
    channel: str
    event: str
    error: str | None


async def send_alerts(link: Trips, deployment: Deployment, opening: int, messages: str, *, seconds: float) -> None:
    """Send what the closing of the tick with that opening gave, within ``seconds``; nothing that goes wrong is raised.

    What is not written down as told, because this process dies or the database is gone, a later tick sends again.
    """
    given = [message.redacted(deployment.redact) for message in msgspec.json.decode(messages, type=list[Message])]
    channels = {message.channel: [m for m in given if m.channel == message.channel] for message in given}
    posts = _Posts(deployment, seconds=min(seconds, _LONGEST_SECONDS))
    try:
        told = await asyncio.gather(*(posts.tell(channel, wanted) for channel, wanted in channels.items()))
    finally:
        await posts.close()
    try:
        [answer] = await link.tell([[_told(opening, (one for some in told for one in some))]])
        error: BaseException | None = answer.error
    except (psycopg.Error, OSError, TimeoutError) as failed:
        error = failed
    if error is not None:
        state = getattr(error, "sqlstate", None) or type(error).__name__
        log.warning("alerts were sent, which could not be written down (%s): a later tick sends them again", state)


def _told(opening: int, told: Iterable[_Told]) -> Statement:
    return statement(query("told_alerts"), {"opening": opening, "told": msgspec.json.encode(list(told)).decode()})


class _Posts:
    """The channels of one tick; one client for all that are posted to, made when there is one."""

    def __init__(self, deployment: Deployment, *, seconds: float) -> None:
        self._deployment = deployment
        self._secrets = TickSecrets(deployment.redact)
        self._until = asyncio.get_running_loop().time() + seconds
        self._http: httpx.AsyncClient | None = None

    async def tell(self, channel: str, messages: list[Message]) -> list[_Told]:
        """One after another; after the first that the channel did not take, the others wait as well."""
        told: list[_Told] = []
        error: str | None = None
        for message in messages:
            if error is None:
                error = await self._failure(channel, message)
            told.append(_Told(message.alert, channel, message.event, error))
        return told

    async def close(self) -> None:
        if self._http is not None:
            await self._http.aclose()

    async def _failure(self, channel: str, message: Message) -> str | None:
        """Why the channel did not take it, in crontick's words; None when it did."""
        try:
            async with asyncio.timeout_at(self._until):
                await self._send(channel, message)
        except TimeoutError:
            error = "no answer in the time that the tick had left"
        except Exception as raised:  # noqa: BLE001 (whatever keeps an alert from going out harms no tick)
            error = str(raised) if type(raised).__module__.startswith("crontick") else type(raised).__name__
        else:
            return None
        error = self._deployment.redact(error)
        log.warning("alert %s was not taken by the channel %s: %s", message.name, channel, error)
        return error

    async def _send(self, channel: str, message: Message) -> None:
        public_url = self._deployment.settings.public_url
        left = max(self._until - asyncio.get_running_loop().time(), 0.1)
        if channel == "log":
            self._log(message)
        elif channel == "email":
            # Imported here: the libraries of mail are an extra.
            from crontick.jobs.alerts.mail import mail

            await mail(self._deployment.config, self._secrets, message, public_url=public_url, seconds=left)
        else:
            from crontick.jobs.alerts.webhook import post

            await post(self._door(), self._url(channel), message, public_url=public_url, seconds=left)

    def _log(self, message: Message) -> None:
        fields = {"alert": message.name, "event": message.event, "subject": message.subject, "counted": message.counted}
        fields |= {"error": message.error, "mend": message.mending} if message.started else {}
        level = logging.WARNING if message.started else logging.INFO
        log.log(level, "alert %s", message.headline, extra={"fields": fields})

    def _url(self, channel: str) -> str:
        url = self._deployment.settings.alert_url if channel == ALERT_URL else None
        return url or self._secrets.read(channel)

    def _door(self) -> "httpx.AsyncClient":
        if self._http is None:
            from crontick.jobs.outbound import client

            self._http = client(self._deployment.config.http, operator=True)
        return self._http
