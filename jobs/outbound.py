"""The one door for HTTP requests (P35): where they may go, how long they may take, how much of an answer is read."""

import asyncio
import re
import ssl
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.resolve import Resolver, resolve
from crontick.jobs.signals import Permanent

if TYPE_CHECKING:
    import httpcore
    import httpx

__all__ = ["ANSWER_BYTES", "Answer", "NotConnected", "Refused", "Unanswered", "client", "retry_after_seconds", "send"]

ANSWER_BYTES: Final = 16384
CONNECT_SECONDS: Final = 5.0
LONGEST_RETRY_AFTER_SECONDS: Final = 86400.0
_TWO_READINGS: Final = re.compile(r"[\\\s\x00-\x1f\x7f]")
"""Characters after which two parsers see two hosts in one URL."""


class Refused(Permanent):
    """The filter says no, and no packet was sent; trying again cannot help."""

    nothing_sent = True


class NotConnected(Exception):
    """No connection, or none that is trusted: not a byte of the request was written."""

    nothing_sent = True


class Unanswered(Exception):
    """The request was written, at least begun, and no whole answer came: the receiver may have acted on it."""

    nothing_sent = False


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What a receiver said, as it came, 16 KiB of it at most; ``whole`` unless length, time or connection cut it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool = False


def client(
    settings: HttpSettings,
    *,
    resolver: Resolver | None = None,
    operator: bool = False,
    tls: ssl.SSLContext | None = None,
    network: "httpcore.AsyncNetworkBackend | None" = None,
    answer_bytes: int = ANSWER_BYTES,
) -> "httpx.AsyncClient":
    """A client that reaches public addresses only, and private ones that ``[http] allow`` names.

    With ``operator`` the URLs are the operator's own, which may be private, and in plain http must be. No more than
    ``answer_bytes`` are read of an answer. In no case a cloud's metadata, a redirect, a proxy variable, a cookie.
    Close it.
    """
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpcore
    import httpx

    from crontick.jobs.dial import Dial, Reach, certificates
    from crontick.jobs.door import Door

    def door(reach: Reach) -> Door:
        dial = Dial(settings, resolver=resolver or resolve, reach=reach, inner=network or httpcore.AnyIOBackend())
        return Door(dial, tls or certificates(), answer_bytes)

    return httpx.AsyncClient(
        transport=door("any" if operator else "public"),
        mounts={"http://": door("private")} if operator else None,
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        headers={"accept-encoding": "identity", "user-agent": "crontick"},
        timeout=httpx.Timeout(10.0, connect=CONNECT_SECONDS),
        follow_redirects=False,
        trust_env=False,
    )


async def send(
    door: "httpx.AsyncClient",
    url: str,
    *,
    content: bytes,
    headers: Mapping[str, str],
    seconds: float,
    on_written: Callable[[], None] | None = None,
) -> Answer:
    """POST, and wait ``seconds`` in all for the answer, however slowly it drips.

    ``on_written`` is called when all of the request was handed over. Once its status is there it is an answer; a body
    that does not end in time is cut. Raises ``Refused``, ``NotConnected`` or ``Unanswered``, which say no more than the
    host.
    """
    import httpx

    written: list[str] = []

    async def trace(event: str, _: Mapping[str, Any]) -> None:
        if event.endswith("send_request_headers.started"):
            written.append(event)
        if event.endswith("send_request_body.complete") and on_written is not None:
            on_written()

    if _TWO_READINGS.search(url):
        raise Refused("the URL is refused: it holds a backslash, a space or a control character")
    host, answer, body = "", None, bytearray()
    try:
        async with asyncio.timeout(seconds):
            request = door.build_request(
                "POST",
                url,
                content=content,
                headers=headers,
                timeout=(CONNECT_SECONDS, seconds, seconds, seconds),
                extensions={"trace": trace},
            )
            host = request.url.host
            response = await door.send(request, stream=True)
            answer = Answer(response.status_code, response.headers, b"")
            try:
                async for piece in response.aiter_raw():
                    body += piece
                answer = msgspec.structs.replace(answer, whole=True)
            finally:
                await response.aclose()
    except (httpx.InvalidURL, UnicodeError):
        raise Refused("the URL is refused: it cannot be read as one") from None
    except (TimeoutError, httpx.TransportError) as error:
        if answer is None or isinstance(error, httpx.ProtocolError):
            raise _failed(error, host, written=bool(written)) from None
    return msgspec.structs.replace(answer, body=bytes(body))


def _failed(error: Exception, host: str, *, written: bool) -> NotConnected | Unanswered:
    """In our own words: what the library says may quote the URL or the address."""
    late = isinstance(error, TimeoutError) or "Timeout" in type(error).__name__
    if written:
        return Unanswered(f"no answer in time from {host}" if late else f"the answer broke off from {host}")
    if "certificate" in str(error).lower():
        return NotConnected(f"no certificate that is trusted from {host}")
    return NotConnected(f"no connection in time to {host}" if late else f"no connection to {host}")


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """What ``Retry-After`` asks for (RFC 9110, 10.2.3), 24 h at most; None when it holds neither seconds nor a date.

    A date is of the sender's clock: it counts from the answer's own ``Date``, and from ``now`` where that is missing.
    """
    value = headers.get("retry-after", "").strip(" \t")
    if value.isascii() and value.isdigit():
        return LONGEST_RETRY_AFTER_SECONDS if len(value) > 9 else min(float(value), LONGEST_RETRY_AFTER_SECONDS)
    at = _date(value)
    if at is None:
        return None
    said_at = _date(headers.get("date", "").strip(" \t")) or now
    return min(max((at - said_at).total_seconds(), 0.0), LONGEST_RETRY_AFTER_SECONDS)


def _date(value: str) -> datetime | None:
    from email.utils import parsedate_to_datetime

    try:
        at = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)  # asctime's form has no zone, and means UTC
