"""What a payload says of a mail, checked before a server hears of it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from crontick.jobs.kinds.addresses import Address, AddressError, one_line, parse
from crontick.jobs.kinds.attachment import Attachment
from crontick.jobs.kinds.settings import EmailSettings, is_extra_header
from crontick.jobs.signals import Permanent, Retry

if TYPE_CHECKING:
    from crontick.jobs.kinds.message import Content

__all__ = ["SendEmail", "addresses", "content", "headers"]

RECIPIENTS: Final = 50
LONGEST_WORD: Final = 900
"""Of an extra header: a link or an id cannot be encoded, nor folded, and servers take 998 bytes a line."""
HEADERS: Final = frozenset(
    {"Auto-Submitted", "In-Reply-To", "List-Id", "List-Unsubscribe", "List-Unsubscribe-Post", "References"}
)
"""That a payload may set. Whatever names a recipient or a sender has its own field."""

Recipient = str | Address


class SendEmail(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True, rename={"sender": "from"}
):
    """To whom and what: either ``template`` with its ``data``, or ``subject`` with ``text`` or ``html`` or both.

    An address is ``a@b.example``, ``Name <a@b.example>`` or ``{"email": …, "name": …}``. ``sender`` (``from`` in JSON)
    is one of ``[email] from``, by default the first. Mails with one ``dedupe_key`` are sent once; without one, a job
    and what it is requeued as.
    """

    to: Recipient | tuple[Recipient, ...]
    cc: tuple[Recipient, ...] = ()
    bcc: tuple[Recipient, ...] = ()
    reply_to: Recipient | None = None
    sender: str | None = None
    subject: str | None = None
    text: str | None = None
    html: str | None = None
    template: str | None = None
    data: dict[str, Any] = {}
    attachments: Annotated[tuple[Attachment, ...], msgspec.Meta(max_length=20)] = ()
    headers: dict[str, str] = {}
    dedupe_key: str | None = None

    def __post_init__(self) -> None:
        if self.template is None and (self.subject is None or (self.text is None and self.html is None)):
            raise ValueError("give template, or subject with text or html")
        if self.template is not None and (self.text is not None or self.html is not None):
            raise ValueError("give either template or text and html")
        if not all(name in HEADERS or is_extra_header(name) for name in self.headers):
            raise ValueError(f"headers may be {', '.join(sorted(HEADERS))}, and X-… that [email] headers names")
        if not 1 <= len(_listed(self.to)) + len(self.cc) + len(self.bcc) <= RECIPIENTS:
            raise ValueError(f"a mail has 1 to {RECIPIENTS} recipients: enqueue one for each of the others")


def addresses(payload: SendEmail, settings: EmailSettings) -> tuple[Address, dict[str, list[Address]], list[Address]]:
    """The sender, those that the headers show, and those that they do not. Raises ``Permanent`` naming the field."""
    allowed = [parse(one) for one in settings.senders]
    sender = allowed[0]
    if payload.sender is not None:
        [said] = _parsed("from", (payload.sender,))
        sender = next((one for one in allowed if one.email == said.email), sender)
        if sender.email != said.email:
            raise Permanent("from is refused: it is none of [email] from")
    shown = {
        "To": _parsed("to", _listed(payload.to)),
        "Cc": _parsed("cc", payload.cc),
        "Reply-To": _parsed("reply_to", () if payload.reply_to is None else (payload.reply_to,)),
    }
    return sender, shown, _parsed("bcc", payload.bcc)


def _parsed(field: str, given: Sequence[Recipient]) -> list[Address]:
    try:
        return [parse(one) for one in given]
    except AddressError as error:
        raise Permanent(f"{field} {error}") from None


def content(payload: SendEmail, settings: EmailSettings) -> "Content":
    """What the reader sees, from the payload itself or from its template. Raises ``Permanent`` or ``Retry``."""
    from crontick.jobs.kinds.message import Content

    if payload.template is None:
        made = Content(payload.subject or "", payload.text, payload.html)
    else:
        from crontick.jobs.kinds.templates import FOLDER, TemplateError, TemplateMissing, render

        try:
            made = render(Path(settings.templates or FOLDER), payload.template, payload.data)
        except TemplateMissing as error:
            raise Retry(str(error)) from None
        except TemplateError as error:
            raise Permanent(str(error)) from None
        if payload.subject is not None:
            made = msgspec.structs.replace(made, subject=payload.subject)
    try:
        one_line(made.subject)
    except AddressError as error:
        raise Permanent(f"subject {error}") from None
    return made


def headers(payload: SendEmail, settings: EmailSettings) -> Mapping[str, str]:
    """The extra headers, each of one line and of words that fit into one. Raises ``Permanent``."""
    if unknown := payload.headers.keys() - HEADERS - set(settings.headers):
        raise Permanent(f"headers has {min(unknown)}, and [email] headers does not name it")
    if any(len(word) > LONGEST_WORD for value in payload.headers.values() for word in value.split(" ")):
        raise Permanent(
            f"headers holds a word of more than {LONGEST_WORD} characters, and a mail's line ends before it"
        )
    try:
        return {name: one_line(value) for name, value in payload.headers.items()}
    except AddressError as error:
        raise Permanent(f"headers {error}") from None


def _listed(given: Recipient | tuple[Recipient, ...]) -> tuple[Recipient, ...]:
    return given if isinstance(given, tuple) else (given,)
