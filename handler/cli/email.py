"""What mail would look like."""

import asyncio
import os
import sys
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Annotated, Final

import msgspec
import typer

from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import clean, complain, say_json
from crontick.jobs.config import load_config
from crontick.jobs.kinds.attachments import Downloads, attached
from crontick.jobs.kinds.message import Attached
from crontick.jobs.kinds.send_email import SendEmail, send_email
from crontick.jobs.kinds.settings import EmailSettings, HttpSettings
from crontick.jobs.payload import PayloadError
from crontick.jobs.settings import Settings
from crontick.jobs.signals import Permanent, Retry
from crontick.sql.extras import install

app: Final = typer.Typer(help="Mail before it goes out.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """A callback keeps `render` a subcommand while it is the only one."""


@app.command()
def render(
    payload: Annotated[str, typer.Argument(metavar="JSON", help="A payload of send_email; - reads it from stdin.")],
    json: Json = False,
) -> None:
    """Print the message as it would go out, with the templates and attachments of this folder; nothing is sent."""
    config = load_config(Settings.from_environ(os.environ).config_path)
    if config.email is None:
        complain("crontick.toml has no [email]: it says from whom mail is, and where templates are")
        raise typer.Exit(1)
    if find_spec("aiosmtplib") is None or find_spec("jinja2") is None:
        complain(f"mail needs more packages: {install('email')}")
        raise typer.Exit(2)
    from crontick.jobs.kinds.outgoing import outgoing

    try:
        read = send_email.payload.decode(sys.stdin.read() if payload == "-" else payload)
        attachments = asyncio.run(_attachments(read, config.email, config.http))
        made = outgoing(read, config.email, attachments, key="job:0", at=datetime.now(UTC))
    except PayloadError as error:
        raise typer.BadParameter(str(error)) from None
    except (Permanent, Retry) as error:
        complain(error.reason)
        raise typer.Exit(1) from None
    text = made.wire.decode("utf-8", "replace")
    if config.email.provider == "resend" and not json:
        text = msgspec.json.format(made.wire, indent=2).decode("utf-8", "replace")
    if json:
        told = {"from": made.sender, "recipients": made.recipients, "content_hash": made.content_hash}
        say_json({**told, **made.details, "message": text})
        return
    for line in text.splitlines():
        sys.stdout.write(f"{clean(line)}\n")


async def _attachments(payload: SendEmail, settings: EmailSettings, http: HttpSettings) -> tuple[Attached, ...]:
    downloads = Downloads()
    try:
        return await attached(payload.attachments, settings, lambda: downloads.http(http))
    finally:
        await downloads.aclose()
