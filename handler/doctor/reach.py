"""Whether mail servers and receivers of webhooks take a connection; nothing is sent to them."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Final

import httpcore
import httpx

from crontick.handler.doctor.finding import REACH, Finding
from crontick.jobs.deployment import Deployment
from crontick.jobs.dial import Dial, Reach, certificates, check
from crontick.jobs.outbound import NotConnected, Refused
from crontick.jobs.resolve import resolve
from crontick.jobs.secrets import read_secret

SECONDS: Final = 10.0
AT_ONCE: Final = 10


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where requests go; ``operator``: its URL is in the configuration, and may be private."""

    name: str
    url: str
    operator: bool


def reach(deployment: Deployment, endpoints: dict[str, str]) -> list[Finding]:
    """One finding for each, also for those that are well; ``endpoints`` are the URLs that the database has, by name."""
    return asyncio.run(_reached(deployment, endpoints))


async def _reached(deployment: Deployment, endpoints: dict[str, str]) -> list[Finding]:
    room = asyncio.Semaphore(AT_ONCE)

    async def bounded(receiver: Receiver) -> Finding:
        async with room:
            return await _connected(receiver, deployment)

    found = [finding async for finding in _mail(deployment)]
    return found + await asyncio.gather(*map(bounded, receivers(deployment, endpoints)))


def receivers(deployment: Deployment, endpoints: dict[str, str]) -> Iterator[Receiver]:
    """Everything that has a URL; the configuration's word on an endpoint goes before the database's."""
    config = deployment.config
    if config.email is not None and config.email.provider == "resend":
        yield Receiver("[email]", config.email.base_url, operator=True)
    for name, said in sorted(config.kinds.items()):
        if said.url is not None:
            yield Receiver(f"kind {name}", said.url, operator=True)
    declared = {endpoint.name: endpoint.url for endpoint in config.webhook_endpoint}
    for name, url in sorted((endpoints | declared).items()):
        yield Receiver(f"endpoint {name}", url, operator=False)


async def _mail(deployment: Deployment) -> AsyncIterator[Finding]:
    """Connected, encrypted and logged in as for a mail."""
    email = deployment.config.email
    if email is None or email.provider != "smtp":
        return
    from crontick.jobs.kinds.smtp import Envelope, failure, opened
    from crontick.jobs.kinds.smtp_url import mail_server

    try:
        server = mail_server(read_secret(os.environ, email.secret_name) or "")
    except ValueError as error:
        yield Finding(REACH, f"[email]: {email.secret_name} {error}", "`crontick check` says more")
        return
    sender = email.senders[0]
    try:
        async with asyncio.timeout(SECONDS):
            client = await opened(server, sender)
            await client.quit()
    except Exception as error:  # noqa: BLE001 (whatever the conversation broke with: failure() reads it)
        said = deployment.redact(str(failure(error, Envelope(sender, ()), server)))
        yield Finding(REACH, f"mail server {server.host}: {said}", f"look at {email.secret_name}, and at its firewall")
    else:
        yield Finding(REACH, f"mail server {server.host} takes a connection and its login", None, wrong=False)


async def _connected(receiver: Receiver, deployment: Deployment) -> Finding:
    try:
        url = httpx.URL(receiver.url)
        check(url)
        async with asyncio.timeout(SECONDS):
            await _shaken(url, receiver, deployment)
    except (httpx.InvalidURL, UnicodeError):
        return Finding(REACH, f"{receiver.name}: its URL cannot be read", "write https://…")
    except (Refused, NotConnected) as error:
        return Finding(REACH, f"{receiver.name}: {error}", "`crontick webhook check-url URL` says why")
    except (TimeoutError, OSError, httpcore.NetworkError, httpcore.TimeoutException) as error:
        why = "no certificate that is trusted" if "certificate" in str(error).lower() else "no connection"
        mend = "is it up, and may this host reach it? Its jobs wait: `crontick pause endpoint` if it stays so"
        return Finding(REACH, f"{receiver.name}: {why} from {url.host}", mend)
    return Finding(REACH, f"{receiver.name}: {url.host} takes a connection", None, wrong=False)


async def _shaken(url: httpx.URL, receiver: Receiver, deployment: Deployment) -> None:
    """A connection, with TLS where its URL says so, which is closed again."""
    encrypted = url.scheme == "https"
    allowed: Reach = "public" if not receiver.operator else "any" if encrypted else "private"
    dial = Dial(deployment.config.http, resolver=resolve, reach=allowed, inner=httpcore.AnyIOBackend())
    stream = await dial.connect_tcp(url.host, url.port or (443 if encrypted else 80), timeout=SECONDS / 2)
    try:
        if encrypted:
            stream = await stream.start_tls(certificates(), server_hostname=url.host, timeout=SECONDS / 2)
    finally:
        await stream.aclose()
