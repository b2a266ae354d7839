"""``send_email``: one mail, once."""

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kind import kind
from crontick.jobs.kinds.mail import SendEmail, addresses, content, headers
from crontick.jobs.kinds.settings import EmailSettings
from crontick.jobs.kinds.smtp import Envelope, Said
from crontick.jobs.kinds.smtp_connections import THROTTLED_SECONDS, Connections, Held
from crontick.jobs.kinds.smtp_url import MailServer, SmtpUrlError, mail_server
from crontick.jobs.outbound import NotConnected
from crontick.jobs.signals import Permanent, Retry, Snooze

if TYPE_CHECKING:
    from crontick.jobs.kinds.message import Message

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
    server, settings = _server(ctx)
    async with ctx.once() as mark:
        if mark.sent:
            return None
        message, envelope = _message(payload, settings, key=str(mark.key))
        mark.provider, mark.message_id, mark.content_hash = "smtp", message.id, message.content_hash
        seconds = max(ctx.kind.timeout_seconds - _OUR_SHARE, _OUR_SHARE)
        try:
            accepted = await ctx.shared(Connections).deliver(
                server, envelope, message.wire, seconds=seconds, most=settings.connections
            )
        except Held as held:
            raise Snooze(held.after_seconds) from None
        except Said as said:
            raise _no(said, server.host) from said
        except NotConnected as error:
            raise Retry(str(error)) from None
        except asyncio.CancelledError:
            if not envelope.begun:
                mark.not_sent()
            raise
    return _refused(payload, accepted.refused, ctx, key=str(mark.key)) if accepted.refused else None


def _server(ctx: Context) -> tuple[MailServer, EmailSettings]:
    """What is missing here may be there at the next attempt: the recipient has nothing to do with it."""
    settings = ctx.settings.email
    if settings is None:
        raise Retry("crontick.toml has no [email]: it says which server takes the mail, and from whom it is")
    if find_spec("aiosmtplib") is None or find_spec("jinja2") is None:
        raise Retry('send_email needs more packages: pip install "crontick[email]"')
    try:
        return mail_server(ctx.secret(settings.url_env)), settings
    except SmtpUrlError as error:
        raise Retry(f"{settings.url_env} {error}") from None
    except LookupError as error:
        raise Retry(str(error.args[0])) from None


def _message(payload: SendEmail, settings: EmailSettings, *, key: str) -> tuple["Message", Envelope]:
    from crontick.jobs.kinds.message import compose

    sender, shown, hidden = addresses(payload, settings)
    message = compose(
        content(payload, settings),
        sender,
        shown,
        headers=headers(payload),
        key=f"send_email:{key}",
        at=datetime.now(UTC),
    )
    recipients = [address.email for address in (*shown["To"], *shown["Cc"], *hidden)]
    return message, Envelope(sender.email, list(dict.fromkeys(recipients)))


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
