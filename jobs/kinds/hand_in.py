"""One mail on its way to its server, and what the answer makes of the attempt."""

import asyncio
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kinds.held import Held
from crontick.jobs.kinds.mail import SendEmail
from crontick.jobs.kinds.settings import EmailSettings
from crontick.jobs.kinds.smtp import Envelope, Said
from crontick.jobs.kinds.smtp_connections import THROTTLED_SECONDS, Connections
from crontick.jobs.kinds.smtp_url import MailServer, SmtpUrlError, mail_server
from crontick.jobs.once import InDoubt, Once
from crontick.jobs.outbound import NotConnected, Unanswered
from crontick.jobs.signals import Permanent, Retry, Snooze
from crontick.jobs.texts import storable

if TYPE_CHECKING:
    from crontick.jobs.kinds.message import Attached
    from crontick.jobs.kinds.outgoing import Outgoing
    from crontick.jobs.kinds.resend import Request

__all__ = ["hand_in"]

_OUR_SHARE: Final = 0.5
"""Seconds of the attempt that remain for what is not the mail server's: its silence is to end in our words."""


async def hand_in(payload: SendEmail, ctx: Context) -> dict[str, Any] | None:
    """The result: who was refused, if anybody. Raises what ends the attempt otherwise."""
    settings = _settings(ctx)
    if find_spec("aiosmtplib") is None or find_spec("jinja2") is None:
        from crontick.sql.extras import install

        raise Retry(f"send_email needs more packages: {install('email')}")
    until = monotonic() + max(ctx.kind.timeout_seconds - _OUR_SHARE, _OUR_SHARE)
    attachments = await _attachments(payload, settings, ctx)
    mark = ctx.once()
    server = _server(settings, ctx) if settings.provider == "smtp" else None
    made = _outgoing(payload, settings, attachments, mark, server)
    refused: Mapping[str, Said] = {}
    async with mark:
        if mark.sent:
            return None
        left = max(until - monotonic(), _OUR_SHARE)
        try:
            if server is None:
                await _over_resend(made.wire, ctx, mark, seconds=left)
            else:
                refused = await _over_smtp(made, server, ctx, mark, seconds=left)
        except Held as held:
            raise Snooze(held.after_seconds) from None
        except NotConnected as error:
            ctx.target = "failed"
            raise Retry(str(error)) from None
        except Unanswered:
            ctx.target = "failed"
            raise
    return _refused(payload, refused, ctx, key=mark.key) if refused else None


def _outgoing(
    payload: SendEmail,
    settings: EmailSettings,
    attachments: "tuple[Attached, ...]",
    mark: Once,
    server: MailServer | None,
) -> "Outgoing":
    """The mail as it goes out, which the marker remembers."""
    from crontick.jobs.kinds.outgoing import outgoing

    extra = _known_key(mark) if server is not None and server.host.endswith(".resend.com") else None
    made = outgoing(payload, settings, attachments, key=mark.key, at=datetime.now(UTC), extra=extra)
    mark.provider, mark.message_id, mark.details = settings.provider, made.message_id, made.details
    if server is None:
        mark.will_send(made.wire)
    else:
        mark.content_hash = made.content_hash
    return made


async def _attachments(payload: SendEmail, settings: EmailSettings, ctx: Context) -> "tuple[Attached, ...]":
    """Had before the marker is entered: whatever happens here, nothing was sent."""
    if not payload.attachments:
        return ()
    from crontick.jobs.kinds.attachments import Downloads, attached

    downloads = ctx.shared(Downloads)
    return await attached(payload.attachments, settings, lambda: downloads.http(ctx.settings.http))


async def _over_smtp(
    made: "Outgoing", server: MailServer, ctx: Context, mark: Once, *, seconds: float
) -> Mapping[str, Said]:
    envelope = Envelope(made.sender, made.recipients)
    most = _settings(ctx).connections
    try:
        accepted = await ctx.shared(Connections).deliver(server, envelope, made.wire, seconds=seconds, most=most)
    except Said as said:
        ctx.target = "failed" if said.of_the_server else "ok"
        raise _no(said, server.host) from said
    except asyncio.CancelledError:
        if not envelope.begun:
            mark.not_sent()
        raise
    mark.details = made.details | {"answer": storable(accepted.words, limit=200)}
    return accepted.refused


def _known_key(mark: Once) -> dict[str, str]:
    """Resend's header for what its API has an idempotency key for, short enough for a line that is not folded."""
    digest = hashlib.sha256(f"send_email:{mark.key}".encode("utf-8", "replace")).hexdigest()
    return {"Resend-Idempotency-Key": digest[:40]}


async def _over_resend(wire: bytes, ctx: Context, mark: Once, *, seconds: float) -> None:
    from crontick.jobs.kinds.resend import KeyUsed, Request

    until = monotonic() + seconds
    try:
        await _deliver(Request(wire, mark.idempotency_key), ctx, mark, seconds=seconds)
    except KeyUsed as error:
        if ctx.kind.in_doubt != "resend":
            raise InDoubt(str(error)) from None
        # Whatever went under the first key is not this mail, which the policy sends as well.
        again = Request(wire, mark.key_of_its_own)
        try:
            await _deliver(again, ctx, mark, seconds=max(until - monotonic(), _OUR_SHARE))
        except KeyUsed as unheard_of:
            raise InDoubt(str(unheard_of)) from None


async def _deliver(request: "Request", ctx: Context, mark: Once, *, seconds: float) -> None:
    from crontick.jobs.kinds.resend import Resend

    settings = _settings(ctx)
    api_key = _secret(settings.api_key_env, ctx)
    try:
        mark.message_id = await ctx.shared(Resend).deliver(settings.base_url, api_key, request, seconds=seconds)
    except Unanswered as error:
        ctx.target = "failed"
        mark.in_doubt()
        raise Retry(str(error)) from None
    except Retry:  # it is never about this mail
        ctx.target = "failed"
        raise
    except asyncio.CancelledError:
        if not request.begun:
            mark.not_sent()
        raise


def _settings(ctx: Context) -> EmailSettings:
    if ctx.settings.email is None:
        raise Retry("crontick.toml has no [email]: it says which server takes the mail, and from whom it is")
    return ctx.settings.email


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
        ctx.enqueue(ctx.kind, again, run_at=timedelta(minutes=1))
    return {"refused": {address: said.code for address, said in refused.items()}, "again": later}
