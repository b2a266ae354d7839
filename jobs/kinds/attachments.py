"""What is attached to a mail, by reference: a file of the deployment, or what a URL answers."""

import asyncio
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crontick.jobs.kinds.attachment import Attachment
from crontick.jobs.kinds.settings import EmailSettings, HttpSettings
from crontick.jobs.outbound import CONNECT_SECONDS, client
from crontick.jobs.signals import Permanent, Retry

if TYPE_CHECKING:
    from mimetypes import MimeTypes

    import httpx

    from crontick.jobs.kinds.message import Attached

__all__ = ["Downloads", "attached"]

FOLDER: Final = "attachments"
BYTES: Final = 7 * 2**20
"""Of all attachments of a mail: encoded they have ten million, the least that the known providers take."""
_FETCH_SECONDS: Final = 5.0
_LATER: Final = frozenset({408, 425, 429})


class Downloads:
    """A tick's client for attachments, behind the outbound filter; it reads more of an answer than ``ctx.http``."""

    def __init__(self) -> None:
        self._http: httpx.AsyncClient | None = None

    def http(self, settings: HttpSettings) -> "httpx.AsyncClient":
        """The client, made when first asked for."""
        if self._http is None:
            self._http = client(settings, answer_bytes=BYTES)
        return self._http

    async def aclose(self) -> None:
        """Close the client."""
        if self._http is not None:
            await self._http.aclose()


async def attached(
    wanted: Sequence[Attachment], settings: EmailSettings, http: "Callable[[], httpx.AsyncClient]"
) -> "tuple[Attached, ...]":
    """The contents, 7 MiB in all and each URL answered within five seconds. Raises ``Permanent`` or ``Retry``.

    No error quotes a URL: whoever has it may be able to read what is behind it.
    """
    from crontick.jobs.kinds.message import Attached

    folder, found, left = Path(settings.attachments or FOLDER), [], BYTES
    for one in wanted:
        data = await _fetched(http(), one.url, left) if one.url is not None else _read(folder, one.file or "", left)
        left -= len(data)
        found.append(Attached(one.shown, one.content_type or _guessed(one.shown), data))
    return tuple(found)


def _read(folder: Path, file: str, left: int) -> bytes:
    path = (folder / file).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise Permanent(f"an attachment's file is none in the folder {folder.name}")
    try:
        if path.stat().st_size > left:
            raise _too_much()
        return path.read_bytes()
    except (OSError, ValueError):
        raise Retry(f"the folder {folder.name} has no such attachment: the next deployment may bring it") from None


async def _fetched(http: "httpx.AsyncClient", url: str, left: int) -> bytes:
    import httpx

    from crontick.jobs.door import TooLong

    host, body = "its host", bytearray()
    seconds = httpx.Timeout(_FETCH_SECONDS, connect=CONNECT_SECONDS)
    try:
        host = httpx.URL(url).host
        async with asyncio.timeout(_FETCH_SECONDS), http.stream("GET", url, timeout=seconds) as response:
            _judge(response.status_code, host)
            async for piece in response.aiter_raw():
                body += piece
                if len(body) > left:
                    raise _too_much()
    except TooLong:
        raise _too_much() from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
        raise Permanent("an attachment's URL cannot be read as one") from None
    except (TimeoutError, httpx.HTTPError):
        raise Retry(f"an attachment could not be had from {host}") from None
    return bytes(body)


def _judge(status: int, host: str) -> None:
    if 200 <= status < 300:
        return
    said = f"an attachment is not to be had: {status} from {host}"
    if status >= 500 or status in _LATER:
        raise Retry(said, status_code=status)
    raise Permanent(said, status_code=status)


def _too_much() -> Permanent:
    return Permanent(f"the attachments have more than {BYTES // 2**20} MiB: send a link")


def _guessed(name: str) -> str:
    """By Python's own table: the machine's would give the same mail other bytes elsewhere."""
    return _types().guess_type(name)[0] or "application/octet-stream"


@cache
def _types() -> "MimeTypes":
    import mimetypes

    return mimetypes.MimeTypes()
