"""``send_email``: one mail, once."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import Any, Final

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kind import kind
from crontick.jobs.kinds.held import Held
from crontick.jobs.kinds.mail import SendEmail, addresses, content, headers
from crontick.jobs.kinds.settings import EmailSettings
from crontick.jobs.kinds.smtp import Envelope, Said
from crontick.jobs.kinds.smtp_connections import THROTTLED_SECONDS, Connections
from crontick.jobs.kinds.smtp_url import MailServer, SmtpUrlError, mail_server
from crontick.jobs.once import InDoubt, Once
from crontick.jobs.outbound import NotConnected, Unanswered
from crontick.jobs.signals import Permanent, Retry, Snooze

__all__ = ["SendEmail", "send_email"]

_OUR_SHARE: Final = 0.5
"""Seconds of the attempt that remain for what is not the mail server's: its silence is to end in our words."""


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
    settings = ctx.settings.email
    if settings is None:
        raise Retry("crontick.toml has no [email]: it says which server takes the mail, and from whom it is")
    if find_spec("aiosmtplib") is None or find_spec("jinja2") is None:
        raise Retry('send_email needs more packages: pip install "crontick[email]"')
    seconds = max(ctx.kind.timeout_seconds - _OUR_SHARE, _OUR_SHARE)
    refused: Mapping[str, Said] = {}
    async with ctx.once() as mark:
        if mark.sent:
            return None
        try:
            if settings.provider == "resend":
                await _over_resend(payload, settings, ctx, mark, seconds=seconds)
            else:
                refused = await _over_smtp(payload, settings, ctx, mark, seconds=seconds)
        except Held as held:
            raise Snooze(held.after_seconds) from None
        except NotConnected as error:
            raise Retry(str(error)) from None
    return _refused(payload, refused, ctx, key=str(mark.key)) if refused else None


async def _over_smtp(
    payload: SendEmail, settings: EmailSettings, ctx: Context, mark: Once, *, seconds: float
) -> Mapping[str, Said]:
    from crontick.jobs.kinds.message import compose

    server = _server(settings, ctx)
    sender, shown, hidden = addresses(payload, settings)
    message = compose(
        content(payload, settings),
        sender,
        shown,
        headers=headers(payload),
        key=f"send_email:{mark.key}",
        at=datetime.now(UTC),
    )
    mark.provider, mark.message_id, mark.content_hash = "smtp", message.id, message.content_hash
    recipients = [address.email for address in (*shown["To"], *shown["Cc"], *hidden)]
    envelope = Envelope(sender.email, list(dict.fromkeys(recipients)))
    try:
        accepted = await ctx.shared(Connections).deliver(
            server, envelope, message.wire, seconds=seconds, most=settings.connections
        )
    except Said as said:
        raise _no(said, server.host) from said
    except asyncio.CancelledError:
        if not envelope.begun:
            mark.not_sent()
        raise
    return accepted.refused


async def _over_resend(
    payload: SendEmail, settings: EmailSettings, ctx: Context, mark: Once, *, seconds: float
) -> None:
    from crontick.jobs.kinds.resend import KeyUsed, Resend, body

    api_key = _secret(settings.api_key_env, ctx)
    sender, shown, hidden = addresses(payload, settings)
    recipients = {"to": shown["To"], "cc": shown["Cc"], "bcc": hidden, "reply_to": shown["Reply-To"]}
    request = body(content(payload, settings), sender, recipients, headers(payload))
    key = mark.idempotency_key(request)
    mark.provider = "resend"
    try:
        mark.message_id = await ctx.shared(Resend).deliver(
            settings.base_url, api_key, request, key=key, seconds=seconds
        )
    except Unanswered as error:
        mark.in_doubt()
        raise Retry(str(error)) from None
    except KeyUsed as error:
        if ctx.kind.in_doubt == "resend":
            raise
        raise InDoubt(str(error)) from None


def _server(settings: EmailSettings, ctx: Context) -> MailServer:
    """What is missing here may be there at the next attempt: the recipient has nothing to do with it."""
    try:
        return mail_server(_secret(settings.url_env, ctx))
    except SmtpUrlError as error:
        raise Retry(f"{settings.url_env} {error}") from None


def _secret(name: str | None, ctx: Context) -> str:
    assert name is not None  # the settings saw to that
    try:
        return ctx.secret(name)
    except LookupError as error:
        raise Retry(str(error.args[0])) from None


def _no(said: Said, host: str) -> Permanent | Retry:
    words = f"{said.code} from {host}"
    if said.step == "login":
        words += ": it does not take the login of the mail server's URL"
    if not said.temporary:
        return Permanent(words, status_code=said.code)
    return Retry(words, after=THROTTLED_SECONDS if said.throttled else None, status_code=said.code)


def _refused(payload: SendEmail, refused: Mapping[str, Said], ctx: Context, *, key: str) -> dict[str, Any]:
    """The others have the mail: whoever may be accepted later gets one of his own, under a marker of its own."""
    later = [address for address, said in refused.items() if said.temporary]
    for address in later:
        again = msgspec.structs.replace(payload, to=(address,), cc=(), bcc=(), dedupe_key=f"{key}:{address}")
        ctx.enqueue(send_email, again, run_at=timedelta(minutes=1))
    return {"refused": {address: said.code for address, said in refused.items()}, "again": later}
