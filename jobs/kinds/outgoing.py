"""A mail in the form that its provider takes."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from crontick.jobs.kinds.mail import SendEmail, addresses, content, headers
from crontick.jobs.kinds.message import Attached, compose
from crontick.jobs.kinds.settings import EmailSettings

__all__ = ["Outgoing", "outgoing"]


class Outgoing(msgspec.Struct, frozen=True):
    """``wire`` goes out as it is; ``content_hash`` tells whether two attempts would send the same."""

    wire: bytes
    content_hash: str
    message_id: str | None
    sender: str
    recipients: tuple[str, ...]
    details: dict[str, Any]


def outgoing(
    payload: SendEmail, settings: EmailSettings, attachments: tuple[Attached, ...] = (), *,
    key: str, at: datetime, extra: Mapping[str, str] | None = None,
) -> Outgoing:  # fmt: skip
    """The mail under that marker's key; ``extra`` are headers of ours. Raises ``Permanent`` or ``Retry``."""
    sender, shown, hidden = addresses(payload, settings)
    made = msgspec.structs.replace(content(payload, settings), attachments=attachments)
    said = {**headers(payload, settings), **(extra or {})}
    recipients = tuple(dict.fromkeys(one.email for one in (*shown["To"], *shown["Cc"], *hidden)))
    details = {"template": payload.template, "version": made.version} if made.version else {}
    if settings.provider == "resend":
        from crontick.jobs.kinds.resend import body

        fields = {"to": shown["To"], "cc": shown["Cc"], "bcc": hidden, "reply_to": shown["Reply-To"]}
        wire = body(made, sender, fields, said)
        return Outgoing(wire, hashlib.sha256(wire).hexdigest(), None, sender.email, recipients, details)
    message = compose(made, sender, shown, headers=said, key=f"send_email:{key}", at=at)
    return Outgoing(message.wire, message.content_hash, message.id, sender.email, recipients, details)
