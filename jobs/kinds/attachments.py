"""What is attached to a mail, by reference: a file of the deployment, or what a URL answers."""

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final
from urllib.parse import quote

import msgspec

from crontick.jobs.kinds.addresses import AddressError, one_line
from crontick.jobs.kinds.settings import EmailSettings, HttpSettings
from crontick.jobs.outbound import CONNECT_SECONDS, client
from crontick.jobs.signals import Permanent, Retry

if TYPE_CHECKING:
    from mimetypes import MimeTypes

    import httpx

    from crontick.jobs.kinds.message import Attached

__all__ = ["Attachment", "Downloads", "attached"]

FOLDER: Final = "attachments"
BYTES: Final = 7 * 2**20
"""Of all attachments of a mail: encoded they have ten million, the least that the known providers take."""
_FETCH_SECONDS: Final = 5.0
_LATER: Final = frozenset({408, 425, 429})
_NAME: Final = re.compile(r"[^/\\]{1,100}")
_ENCODED_CHARACTERS: Final = 700
"""Of a name: it stands on one line of a header, and servers take 998 bytes a line."""
ContentType = Annotated[
    str, msgspec.Meta(max_length=100, pattern=r"^(application|audio|font|image|text|video)/[a-z0-9!#$&^_.+-]+\Z")
]


class Attachment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """``file``, in the folder ``[email] attachments``, or ``url``, which is fetched at each attempt.

    ``name`` is what the reader saves it as: of a file by default its own, and a URL needs one.
    """

    file: str | None = None
    url: str | None = None
    name: str | None = None
    content_type: ContentType | None = None

    def __post_init__(self) -> None:
        if (self.file is None) == (self.url is None):
            raise ValueError("an attachment has either file or url")
        if not _NAME.fullmatch(self.shown):
            raise ValueError("an attachment has a name of 1 to 100 characters, without / and \\")
        if len(quote(self.shown)) > _ENCODED_CHARACTERS:
            raise ValueError("an attachment's name is too long: shorten it")
        try:
            one_line(self.shown)
        except AddressError as error:
            raise ValueError(f"an attachment's name {error}") from None

    @property
    def shown(self) -> str:
        """Its name, as the reader sees it."""
        return self.name if self.name is not None else (self.file or "").rpartition("/")[2]


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
