"""What goes through the HTTP door is bounded as a whole: a request in time, its answer in size (P35)."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import httpcore
import httpx

from crontick.jobs.dial import Dial, check
from crontick.jobs.outbound import ANSWER_BYTES

__all__ = ["Door", "TooLong"]

LONGEST_SECONDS: Final = 60.0
"""For a request whose time-outs were switched off."""


class TooLong(httpx.TransportError):
    """An answer that is longer than what is read of it (P35)."""


class Door(httpx.AsyncHTTPTransport):
    """Refuses URLs that two parsers could read in two ways, and gives answers as they came: nothing is decompressed.

    The request's time-outs, connecting and reading together, are its total time: an answer that drips does not live
    for ever.
    """

    def __init__(self, dial: Dial, tls: ssl.SSLContext, answer_bytes: int = ANSWER_BYTES) -> None:
        super().__init__(verify=tls, trust_env=False)
        self._answer_bytes = answer_bytes
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=None,  # the tick's seats are the bound
            max_keepalive_connections=20,
            keepalive_expiry=5.0,
            network_backend=dial,
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer; ``Refused`` for a URL that is not plainly one of http or https."""
        check(request.url)
        seconds = total_seconds(request)
        until = asyncio.get_running_loop().time() + seconds
        written = _watched(request)
        try:
            async with asyncio.timeout_at(until):
                response = await super().handle_async_request(request)
        except TimeoutError:
            late = httpx.ReadTimeout if written else httpx.ConnectTimeout
            raise late(f"no answer within {seconds:g} s", request=request) from None
        if "content-encoding" in response.headers:
            del response.headers["content-encoding"]
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _Bounded(response.stream, request, until=until, seconds=seconds, most=self._answer_bytes)
        return response


class _Bounded(httpx.AsyncByteStream):
    """The answer's body, up to ``most`` bytes of it, until that moment."""

    def __init__(
        self, stream: httpx.AsyncByteStream, request: httpx.Request, *, until: float, seconds: float, most: int
    ) -> None:
        self._most = most
        self._stream = stream
        self._request = request
        self._until = until
        self._seconds = seconds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        room = self._most
        pieces = aiter(self._stream)
        while (piece := await self._next(pieces)) is not None:
            if piece[:room]:
                yield piece[:room]
            if len(piece) > room:
                raise TooLong(
                    f"the answer of {self._request.url.host} is longer than {self._most} bytes, which is all that is"
                    " read through ctx.http: stream it and stop there, or fetch it with a client of your own",
                    request=self._request,
                )
            room -= len(piece)

    async def _next(self, pieces: AsyncIterator[bytes]) -> bytes | None:
        try:
            async with asyncio.timeout_at(self._until):
                return await anext(pieces, None)
        except TimeoutError:
            raise httpx.ReadTimeout(f"no whole answer within {self._seconds:g} s", request=self._request) from None

    async def aclose(self) -> None:
        await self._stream.aclose()


def total_seconds(request: httpx.Request) -> float:
    """Connecting and reading together; no time-out is none of those that exist."""
    given = request.extensions.get("timeout", {})
    return float(given.get("connect") or 0) + float(given.get("read") or 0) or LONGEST_SECONDS


def _watched(request: httpx.Request) -> list[str]:
    """Filled when the first byte of the request may have been written."""
    written: list[str] = []
    told = request.extensions.get("trace")

    async def trace(event: str, said: Mapping[str, Any]) -> None:
        if event.endswith("send_request_headers.started"):
            written.append(event)
        if told is not None:
            await told(event, said)

    request.extensions = {**request.extensions, "trace": trace}
    return written
