"""The network under the HTTP door: only a checked address is ever connected to."""

import asyncio
import os
import re
import ssl
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from ipaddress import ip_address
from typing import Any, Final, Literal, TypeAlias

import httpcore
import httpx

from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.networks import is_private, is_public
from crontick.jobs.outbound import Refused
from crontick.jobs.resolve import Resolver

__all__ = ["Dial", "Reach", "certificates", "check"]

Reach: TypeAlias = Literal["public", "any", "private"]
"""Of URLs that came with data; of the operator's own over TLS; of the operator's own in plain text."""
PORTS: Final = frozenset({80, 443, 8443})
_ADDRESSES_TRIED: Final = 4
_REFUSED: Final[dict[Reach, str]] = {
    "public": "not every address of it is public (private ones: [http] allow)",
    "any": "not every address of it is public or private (a cloud's metadata never is)",
    "private": "http goes to private addresses only, and not every one of it is: write https://",
}
_HOST: Final = re.compile(
    r"(?=.{1,253}\.?\Z)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\.?"
)
_NUMBER: Final = re.compile(r"(?:.*\.)?(?:0x[0-9a-f]*|[0-9]+)\.?")
"""Whose last label is a number: the C library reads 2130706433, 0x7f.1 and 127.1 as addresses."""


class Dial(httpcore.AsyncNetworkBackend):
    """Resolves a name once, refuses it when any answer may not be reached, and connects to one of the answers.

    httpcore checks the certificate against the URL's host, which is never rewritten.
    """

    def __init__(
        self, settings: HttpSettings, *, resolver: Resolver, reach: Reach, inner: httpcore.AsyncNetworkBackend
    ) -> None:
        self._settings = settings
        self._resolve = resolver
        self._reach = reach
        self._inner = inner

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore's interface)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A stream to an address that was checked. Raises ``Refused`` before any packet is sent."""
        try:
            async with asyncio.timeout(timeout):
                addresses = await self._checked(host, port)
                options = {"local_address": local_address, "socket_options": socket_options}
                return await self._connect(addresses[:_ADDRESSES_TRIED], port, timeout, **options)
        except TimeoutError:
            raise httpcore.ConnectTimeout(f"no connection to {host} within {timeout:g} s") from None

    async def _checked(self, host: str, port: int) -> list[str]:
        named = self._reach != "public" or self._settings.names(host, port)
        if not named and port not in PORTS:
            raise Refused(
                f"{host}: port {port} is refused, for requests whose URL came with data go to 443, 8443 or 80"
            )
        if _literal(host):
            addresses = [host]
        else:
            try:
                addresses = list(await self._resolve(host, port))
            except OSError as error:
                raise httpcore.ConnectError(f"{host} cannot be resolved ({error})") from None
            if not addresses:
                raise httpcore.ConnectError(f"{host} has no address")
        for address in addresses:
            public = self._reach != "private" and is_public(address)
            if not (public or (named and is_private(address))):
                raise Refused(f"{host} is refused: {_REFUSED[self._reach]}")
        return addresses

    async def _connect(
        self, tried: list[str], port: int, seconds: float | None, **options: Any
    ) -> httpcore.AsyncNetworkStream:
        """The first that answers; none may use up the time of those behind it."""
        share = None if seconds is None else seconds / len(tried)
        for address in tried[:-1]:
            with suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                return await self._inner.connect_tcp(address, port, share, **options)
        return await self._inner.connect_tcp(tried[-1], port, share, **options)


def check(url: httpx.URL) -> None:
    """Raises ``Refused``, naming the rule, for a scheme, host or port that no request goes to."""
    host = url.raw_host.decode("ascii", "replace").lower()
    if url.scheme not in ("http", "https"):
        raise Refused(f"the scheme {url.scheme[:20]!r} is refused: write https://…")
    if not _literal(host) and (not _HOST.fullmatch(host) or _NUMBER.fullmatch(host)):
        raise Refused(f"{host[:100]!r} is refused: it is no host name")
    if url.port is not None and not 0 < url.port < 65536:
        raise Refused(f"port {url.port} is refused: there is none of that number")


def _literal(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


@cache
def certificates() -> ssl.SSLContext:
    """The one TLS context of the process; making one takes 20 ms.

    ``SSL_CERT_FILE`` names authorities of one's own, which are trusted beside the public ones.
    """
    context = httpx.create_ssl_context(trust_env=False)
    if own := os.environ.get("SSL_CERT_FILE"):
        try:
            context.load_verify_locations(own)
        except OSError:
            raise RuntimeError(f"SSL_CERT_FILE names {own}, where no certificates can be read") from None
    return context
