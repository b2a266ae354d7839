"""A mail as bytes: the same bytes for the same content, but for the date."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from email.charset import QP, Charset
from email.encoders import encode_base64
from email.header import Header
from email.mime.base import MIMEBase
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.policy import compat32
from email.utils import format_datetime, quote
from typing import Final

import msgspec

from crontick.jobs.kinds.addresses import Address

__all__ = ["Attached", "Content", "Message", "compose"]

_UTF8: Final = Charset("utf-8")
_UTF8.body_encoding = QP  # readable on the wire, and no line of it is over 76 characters
_WIRE: Final = compat32.clone(linesep="\r\n")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_WORD: Final = 60
"""A longer word of a subject or name is encoded: as it is it cannot be folded, and servers take 998 bytes a line."""


class Attached(msgspec.Struct, frozen=True):
    """One attachment; name and type were checked to be one line."""

    name: str
    content_type: str
    data: bytes


class Content(msgspec.Struct, frozen=True):
    """What the reader sees; at least one of ``text`` and ``html``. ``version`` is that of the template it is from."""

    subject: str
    text: str | None
    html: str | None
    attachments: tuple[Attached, ...] = ()
    version: str | None = None


class Message(msgspec.Struct, frozen=True):
    """``content_hash`` leaves out the date, so that it tells whether two attempts would send the same."""

    id: str
    content_hash: str
    wire: bytes


def compose(
    content: Content, sender: Address, shown: Mapping[str, Sequence[Address]], *,
    headers: Mapping[str, str], key: str, at: datetime,
) -> Message:  # fmt: skip
    """The message; ``shown`` has the addresses of each address header, ``key`` makes its Message-ID.

    Header values were checked to be one line. They are never given to a parser of Python's, which decodes encoded words
    in them, line ends and all.
    """
    digest = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()
    message_id = f"<{digest[:32]}@{sender.domain}>"
    root = _body(content, boundary=f"=_{digest[32:]}")
    if content.attachments:
        parts = [root, *map(_attached, content.attachments)]
        root = MIMEMultipart("mixed", boundary=f"=_mixed_{digest[32:]}", _subparts=parts)
    root["From"] = _written(sender)
    for name, addresses in shown.items():
        if addresses:
            _put(root, name, Header(", ".join(map(_written, addresses)), "us-ascii", header_name=name))
    _put(root, "Subject", Header(content.subject, _charset(content.subject), header_name="Subject"))
    root["Message-ID"] = message_id
    for name, value in headers.items():
        _put(root, name, Header(value, "us-ascii" if _plain(value) else "utf-8", header_name=name))
    content_hash = hashlib.sha256(root.as_bytes(policy=_WIRE)).hexdigest()
    root["Date"] = format_datetime(at)
    return Message(message_id, content_hash, root.as_bytes(policy=_WIRE))


def _body(content: Content, boundary: str) -> MIMEText | MIMEMultipart:
    parts = [
        MIMEText(_LINE_END.sub("\n", text), subtype, _UTF8)  # type: ignore[arg-type]
        for subtype, text in (("plain", content.text), ("html", content.html))
        if text is not None
    ]
    if len(parts) == 1:
        return parts[0]
    return MIMEMultipart("alternative", boundary=boundary, _subparts=parts)


def _attached(one: Attached) -> MIMEBase:
    part = MIMEBase(*one.content_type.split("/", 1))
    part.set_payload(one.data)
    encode_base64(part)
    name = one.name if one.name.isascii() else ("utf-8", "", one.name)
    part.add_header("Content-Disposition", "attachment", filename=name)
    return part


def _put(root: MIMEText | MIMEMultipart, name: str, value: Header) -> None:
    root[name] = value  # type: ignore[assignment] # typeshed knows strings only


def _written(address: Address) -> str:
    if not address.name:
        return address.email
    if _charset(quote(address.name)) == "us-ascii":
        return f'"{quote(address.name)}" <{address.email}>'
    return f"{Header(address.name, 'utf-8').encode(linesep='', maxlinelen=75)} <{address.email}>"


def _charset(text: str) -> str:
    foldable = max(map(len, text.split(" "))) <= _WORD
    return "us-ascii" if foldable and _plain(text) else "utf-8"


def _plain(text: str) -> bool:
    """Whether no reader takes it for encoded, and it needs not be."""
    return text.isascii() and "=?" not in text
