"""An alert as a mail, through the server or provider of ``[email]``."""

import hashlib
from datetime import UTC, datetime

from crontick.jobs.alerts.message import Message
from crontick.jobs.alerts.webhook import NotTaken
from crontick.jobs.kinds.mail import SendEmail
from crontick.jobs.kinds.outgoing import outgoing
from crontick.jobs.kinds.settings import EmailSettings
from crontick.jobs.kinds.smtp import Envelope
from crontick.jobs.kinds.smtp_connections import Connections
from crontick.jobs.kinds.smtp_url import mail_server
from crontick.jobs.sections import Config
from crontick.jobs.tick_secrets import TickSecrets

__all__ = ["mail"]


async def mail(
    config: Config, secrets: TickSecrets, message: Message, *, public_url: str | None, seconds: float
) -> None:
    """Returns when the server took it. Raises what tells why it did not."""
    settings = config.email
    if settings is None:
        raise NotTaken("crontick.toml has no [email], by which [alerts] email goes out")
    lines = [message.headline, *message.lines(public_url=public_url, private=True)]
    if message.mending:
        lines.append(f"Mend: {message.mending}")
    payload = SendEmail(
        to=config.alerts.recipients,
        subject=f"crontick: {message.headline}"[:200],
        text="\n\n".join(lines) + "\n",
        headers={"Auto-Submitted": "auto-generated"},
    )
    key = f"alert:{message.alert}:{message.event}"
    if settings.provider == "smtp":
        await _over_smtp(payload, settings, secrets, key=key, seconds=seconds)
    else:
        await _over_resend(payload, settings, secrets, key=key, seconds=seconds)


async def _over_smtp(
    payload: SendEmail, settings: EmailSettings, secrets: TickSecrets, *, key: str, seconds: float
) -> None:
    made = outgoing(payload, settings, key=key, at=datetime.now(UTC))
    server = mail_server(secrets.read(settings.secret_name))
    connections = Connections()
    try:
        await connections.deliver(server, Envelope(made.sender, made.recipients), made.wire, seconds=seconds)
    finally:
        await connections.aclose()


async def _over_resend(
    payload: SendEmail, settings: EmailSettings, secrets: TickSecrets, *, key: str, seconds: float
) -> None:
    from crontick.jobs.kinds.resend import Request, Resend

    made = outgoing(payload, settings, key=key, at=datetime.now(UTC))
    # The provider takes what a tick sends again, because its word that it was sent got lost, for the same.
    digest = hashlib.sha256(key.encode() + made.wire).hexdigest()
    provider = Resend()
    try:
        await provider.deliver(
            settings.base_url, secrets.read(settings.secret_name), Request(made.wire, digest[:40]), seconds=seconds
        )
    finally:
        await provider.aclose()
