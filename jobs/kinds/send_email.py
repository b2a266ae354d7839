"""``send_email``: one mail, once."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kind import kind
from crontick.jobs.kinds.addresses import Address, AddressError, one_line, parse
from crontick.jobs.kinds.settings import EmailSettings
from crontick.jobs.outbound import NotConnected
from crontick.jobs.signals import Permanent, Retry

__all__ = ["SendEmail", "send_email"]

RECIPIENTS: Final = 50
HEADERS: Final = frozenset(
    {"Auto-Submitted", "In-Reply-To", "List-Id", "List-Unsubscribe", "List-Unsubscribe-Post", "References"}
)
"""That a payload may set. Whatever names a recipient or a sender has its own field."""
_OUR_SHARE: Final = 0.5
"""Seconds of the attempt that remain for what is not the mail server's: its silence is to end in our words."""
_THROTTLED_SECONDS: Final = 600.0

Recipient = str | Address


class SendEmail(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True, rename={"sender": "from"}
):
    """To whom and what: either ``template`` with its ``data``, or ``subject`` with ``text`` or ``html`` or both.

    An address is ``a@b.example``, ``Name <a@b.example>`` or ``{"email": …, "name": …}``. ``sender`` (``from`` in JSON)
    is one of ``[email] from``, by default the first. Mails with one ``dedupe_key`` are sent once; without one, a job and
    what it is requeued as.
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
    data: dict[str, Any] = {}  # noqa: RUF012 (msgspec copies it)
    headers: dict[str, str] = {}  # noqa: RUF012
    dedupe_key: str | None = None

    def __post_init__(self) -> None:
        if self.template is None and (self.subject is None or (self.text is None and self.html is None)):
            raise ValueError("give template, or subject with text or html")
        if self.template is not None and (self.text is not None or self.html is not None):
            raise ValueError("give either template or text and html")
        unknown = self.headers.keys() - HEADERS
        if unknown:
            raise ValueError(f"headers may be {', '.join(sorted(HEADERS))}")
        if not 1 <= len(_listed(self.to)) + len(self.cc) + len(self.bcc) <= RECIPIENTS:
            raise ValueError(f"a mail has 1 to {RECIPIENTS} recipients: enqueue one for each of the others")


@kind(
    "send_email",
    queue="mail",
    priority=10,
    timeout=15,
    needs=8,
    max_attempts=5,
    backoff=[60, 300, 1800, 7200],
    marker="dedupe_key",
)
async def send_email(payload: SendEmail, ctx: Context) -> dict[str, Any] | None:
    """Hand one mail in. A 4xx and no connection: again later; a 5xx: dead; cut off after its content: in doubt.

    Recipients that are refused for now get a mail of their own later; those refused for good are in the result.
    """
    settings = _settings(ctx)
    try:
        from crontick.jobs.kinds.message import compose
        from crontick.jobs.kinds.smtp import Envelope, Said, SmtpUrlError, deliver, mail_server

        server = mail_server(ctx.secret(settings.url_env))
    except SmtpUrlError as error:
        raise Retry(f"{settings.url_env} {error}") from None
    except LookupError as error:
        raise Retry(str(error.args[0])) from None
    async with ctx.once() as mark:
        if mark.sent:
            return None
        sender, shown, bcc = _addresses(payload, settings)
        content = _content(payload, settings)
        key = f"{ctx.kind.name}:{mark.key}"
        message = compose(content, sender, shown, headers=_headers(payload), key=key, at=datetime.now(UTC))
        mark.provider, mark.message_id, mark.content_hash = "smtp", message.id, message.content_hash
        recipients = [address.email for address in (*shown["To"], *shown["Cc"], *bcc)]
        envelope = Envelope(sender.email, list(dict.fromkeys(recipients)))
        seconds = max(ctx.kind.timeout_seconds - _OUR_SHARE, _OUR_SHARE)
        try:
            refused = await deliver(server, envelope, message.wire, seconds=seconds)
        except Said as said:
            raise _no(said, server.host) from said
        except NotConnected as error:
            raise Retry(str(error)) from None
        except ImportError as error:
            raise Retry(_EXTRA) from error
        except asyncio.CancelledError:
            if not envelope.begun:
                mark.not_sent()
            raise
    return _refused(payload, refused, ctx, key=str(mark.key)) if refused else None


_EXTRA: Final = 'send_email needs more packages: pip install "crontick[email]"'


def _settings(ctx: Context) -> EmailSettings:
    if ctx.settings.email is None:
        raise Retry("crontick.toml has no [email]: it says which server takes the mail, and from whom it is")
    return ctx.settings.email


def _addresses(payload: SendEmail, settings: EmailSettings) -> tuple[Address, dict[str, list[Address]], list[Address]]:
    """The sender, those that the headers show, and those that they do not."""
    allowed = (settings.sender,) if isinstance(settings.sender, str) else settings.sender
    try:
        senders = [parse(one) for one in allowed]
    except AddressError as error:
        raise Retry(f"[email] from {error}") from None
    wanted = senders[0]
    field = "from"
    try:
        if payload.sender is not None:
            said = parse(payload.sender)
            wanted = next((one for one in senders if one.email == said.email), Address(""))
            if not wanted.email:
                raise Permanent("from is refused: it is none of [email] from")
        parsed: dict[str, list[Address]] = {}
        for field, given in (
            ("to", _listed(payload.to)),
            ("cc", payload.cc),
            ("bcc", payload.bcc),
            ("reply_to", () if payload.reply_to is None else (payload.reply_to,)),
        ):
            parsed[field] = [parse(one) for one in given]
    except AddressError as error:
        raise Permanent(f"{field} {error}") from None
    return wanted, {"To": parsed["to"], "Cc": parsed["cc"], "Reply-To": parsed["reply_to"]}, parsed["bcc"]


def _content(payload: SendEmail, settings: EmailSettings) -> Any:
    from crontick.jobs.kinds.message import Content

    if payload.template is None:
        content = Content(payload.subject or "", payload.text, payload.html)
    else:
        from crontick.jobs.kinds.templates import FOLDER, TemplateError, TemplateMissing, render

        try:
            content = render(Path(settings.templates or FOLDER), payload.template, payload.data)
        except TemplateMissing as error:
            raise Retry(str(error)) from None
        except TemplateError as error:
            raise Permanent(str(error)) from None
        except ImportError as error:
            raise Retry(_EXTRA) from error
        if payload.subject is not None:
            content = msgspec.structs.replace(content, subject=payload.subject)
    try:
        one_line(content.subject)
    except AddressError as error:
        raise Permanent(f"subject {error}") from None
    return content


def _headers(payload: SendEmail) -> Mapping[str, str]:
    try:
        return {name: one_line(value) for name, value in payload.headers.items()}
    except AddressError as error:
        raise Permanent(f"headers {error}") from None


def _no(said: Any, host: str) -> Permanent | Retry:
    words = f"{said.code} from {host}"
    if said.step == "login":
        words += ": it does not take the login of the mail server's URL"
    if not said.temporary:
        return Permanent(words, status_code=said.code)
    throttled = "throttl" in str(said).lower()
    return Retry(words, after=_THROTTLED_SECONDS if throttled else None, status_code=said.code)


def _refused(payload: SendEmail, refused: Mapping[str, Any], ctx: Context, *, key: str) -> dict[str, Any]:
    """The others have the mail: whoever may be accepted later gets one of his own, under a marker of its own."""
    later = [address for address, said in refused.items() if said.temporary]
    for address in later:
        again = msgspec.structs.replace(payload, to=(address,), cc=(), bcc=(), dedupe_key=f"{key}:{address}")
        ctx.enqueue(send_email, again, run_at=timedelta(minutes=1))
    return {"refused": {address: said.code for address, said in refused.items()}, "again": later}


def _listed(given: Recipient | tuple[Recipient, ...]) -> tuple[Recipient, ...]:
    return given if isinstance(given, tuple) else (given,)
