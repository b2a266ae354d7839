"""Webhooks by hand: endpoints, secrets, signatures, and whether a URL may be asked."""

import asyncio
import os
import re
import sys
import time
from ipaddress import ip_address
from typing import Annotated, Final

import typer

from crontick.handler.cli.database import ask, ask_one, connected
from crontick.handler.cli.options import By, Count, Json, Reason, moment
from crontick.handler.cli.screen import complain, say, say_json, table
from crontick.jobs.config import load_config
from crontick.jobs.kinds.signature import SecretError, fault, new_secret, signature, signing_key
from crontick.jobs.secrets import read_secret, tokens
from crontick.jobs.settings import Settings

app: Final = typer.Typer(help="Endpoints, secrets, signatures and targets of webhooks.", no_args_is_help=True)
COLUMNS: Final = ("name", "host", "sealed", "paused_at", "paused_because", "held", "updated_at")
_ID: Final = re.compile(r"[!-\-/-~]{1,256}")
"""Printable, and without a dot: in ``id.timestamp.body`` it could be read in two ways."""

SecretNames = Annotated[
    list[str],
    typer.Option("--secret-env", metavar="NAME", help="The variable with the secret; several while rotating."),
]
EndpointName = Annotated[str, typer.Argument(metavar="NAME", help="What jobs call it.")]
WebhookId = Annotated[str, typer.Option("--id", help="The header webhook-id.")]
Timestamp = Annotated[str, typer.Option("--timestamp", help="The header webhook-timestamp: seconds since 1970.")]
At = Annotated[
    str | None, typer.Option("--at", metavar="TIME", help="Judge as of then: seconds since 1970, or a moment.")
]
Resolved = Annotated[
    list[str] | None, typer.Option("--resolve", metavar="NAME=ADDRESS", help="Take this for the name's address.")
]


@app.command("list")
def list_(
    limit: Count = 50,
    *,
    urls: Annotated[bool, typer.Option("--urls", help="Whole URLs, each of which may be a secret.")] = False,
    json: Json = False,
) -> None:
    """List the endpoints that the database has, which of them are paused or disabled, and how many jobs they hold."""
    with connected() as conn:
        rows = ask(conn, "list_endpoint_urls" if urls else "list_endpoints", {"at_most": limit})
    columns = ("name", "url", "updated_at") if urls else COLUMNS
    table(rows, columns, as_json=json, nothing="no endpoint was set: `crontick webhook set NAME URL`")


@app.command("set")
def set_(
    name: EndpointName,
    by: By,
    url: Annotated[
        str | None, typer.Argument(metavar="[URL]", help="Where it receives; - reads it from stdin, if it is a secret.")
    ] = None,
    *,
    secret_env: Annotated[
        str | None, typer.Option("--secret-env", metavar="NAME", help="The variable that has its signing secret.")
    ] = None,
    reason: Reason = None,
    json: Json = False,
) -> None:
    """Write an endpoint; what is left out stays as it is. A secret that is made for it is printed, this once.

    It is told when the outbound filter, by the crontick.toml here, lets nothing pass to the URL; no name is looked up.
    """
    from crontick.jobs.kinds.verdict import refusal

    secret = None if secret_env is None else _one_secret(secret_env)
    where = sys.stdin.readline().strip() if url == "-" else url
    http = load_config(Settings.from_environ(os.environ).config_path).http
    _set({"name": name, "url": where, "secret": secret, "by": by, "reason": reason}, json=json)
    if where is not None and (refused := refusal(where, http)):
        complain(f"its deliveries will be dead until crontick.toml of what ticks says otherwise: {refused}")


@app.command()
def rotate(name: EndpointName, by: By, reason: Reason = None, json: Json = False) -> None:
    """Make another secret for an endpoint, and print it; the one before signs beside it for a day."""
    _set({"name": name, "url": None, "secret": "new", "by": by, "reason": reason}, json=json)


@app.command()
def drop(name: EndpointName, by: By, reason: Reason = None, json: Json = False) -> None:
    """Forget an endpoint: jobs that name it fail, and run again if it comes back in time."""
    with connected() as conn:
        ask_one(conn, "drop_endpoint", {"name": name, "by": by, "reason": reason})
    if json:
        say_json({"name": name, "dropped": True})
    else:
        say(f"endpoint {name}: dropped")


@app.command()
def secret(json: Json = False) -> None:
    """Make a signing secret, for a variable or a secret store."""
    made = new_secret()
    if json:
        say_json({"secret": made})
    else:
        say(made)


@app.command()
def sign(secret_env: SecretNames, webhook_id: WebhookId, timestamp: Timestamp, json: Json = False) -> None:
    """Sign the bytes of stdin, and print the header webhook-signature."""
    if not _ID.fullmatch(webhook_id):
        raise typer.BadParameter("an id is printable, holds neither dot nor space, and has 256 characters at most")
    if not re.fullmatch(r"[0-9]{1,15}", timestamp):
        raise typer.BadParameter("a timestamp is a number of seconds since 1970")
    made = signature(_secrets(secret_env), webhook_id, int(timestamp), sys.stdin.buffer.read())
    if json:
        say_json({"webhook-id": webhook_id, "webhook-timestamp": timestamp, "webhook-signature": made})
    else:
        say(made)


@app.command()
def verify(
    secret_env: SecretNames,
    webhook_id: WebhookId,
    timestamp: Timestamp,
    signatures: Annotated[str, typer.Option("--signature", help="The header webhook-signature.")],
    at: At = None,
    json: Json = False,
) -> None:
    """Say whether a delivery is to be believed: the bytes of stdin with these headers; exit 1 when it is not."""
    secrets, body = _secrets(secret_env), sys.stdin.buffer.read()
    reason = fault(secrets, (webhook_id, timestamp, signatures), body, now=_unix(at))
    if json:
        say_json({"valid": reason is None, "reason": reason})
    else:
        say("valid" if reason is None else f"not valid: {reason}")
    if reason is not None:
        raise typer.Exit(1)


@app.command()
def check_url(url: Annotated[str, typer.Argument(metavar="URL")], resolve: Resolved = None, json: Json = False) -> None:
    """Say whether a webhook to the URL would go out, and where to; nothing is sent. Exit 1 when it would not."""
    from crontick.jobs.kinds.verdict import judge

    http = load_config(Settings.from_environ(os.environ).config_path).http
    verdict = asyncio.run(judge(url, http, _names(resolve or [])))
    if json:
        say_json({"allowed": verdict.allowed, "addresses": verdict.addresses, "reason": verdict.reason})
    else:
        say(f"allowed: {', '.join(verdict.addresses)}" if verdict.allowed else f"not sent: {verdict.reason}")
    if not verdict.allowed:
        raise typer.Exit(1)


def _secrets(names: list[str]) -> list[str]:
    """The values of all these variables, each a secret that can be one."""
    found: list[str] = []
    for name in names:
        try:
            values = tokens(read_secret(os.environ, name) or "")
            for value in values:
                signing_key(value)
        except SecretError as error:
            raise typer.BadParameter(f"the secret in {name} {error}") from None
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        if not values:
            raise typer.BadParameter(f"{name} is not set: make a secret with `crontick webhook secret`")
        found += values
    return found


def _set(values: dict[str, str | None], *, json: bool) -> None:
    with connected() as conn:
        made = ask_one(conn, "set_endpoint", values)
    if json:
        say_json({"name": values["name"], "secret": made})
    else:
        say(made or f"endpoint {values['name']}: set")


def _one_secret(name: str) -> str:
    secret, *others = _secrets([name])
    if others:
        raise typer.BadParameter(
            f"{name} holds several secrets, and an endpoint is given one: the one before stays a day"
        )
    return secret


def _unix(at: str | None) -> float:
    if at is None:
        return time.time()
    return float(at) if re.fullmatch(r"[0-9]{1,15}", at) else moment(at).timestamp()


def _names(given: list[str]) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for one in given:
        name, equals, address = one.partition("=")
        try:
            ip_address(address)
        except ValueError:
            address = ""
        if not (name and equals and address):
            raise typer.BadParameter(f"{one!r} is no NAME=ADDRESS")
        names.setdefault(name.lower(), []).append(address)
    return names
