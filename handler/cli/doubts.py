"""Doubts: messages of which nobody knows whether they were sent."""

from typing import Annotated, Final

import typer

from crontick.handler.cli.database import ask, ask_one, reached
from crontick.handler.cli.options import By, Count, Json, Reason, Url
from crontick.handler.cli.screen import say, say_json, table

app: Final = typer.Typer(help="Messages of which nobody knows whether they were sent.", no_args_is_help=True)
COLUMNS: Final = ("kind", "key", "job", "in_doubt_since", "provider", "provider_message_id")

KindName = Annotated[str, typer.Argument(metavar="KIND")]
Key = Annotated[str, typer.Argument(metavar="KEY", help="As `crontick doubts list` shows it.")]


@app.command("list")
def list_(
    kind: Annotated[str | None, typer.Option()] = None, limit: Count = 50, url: Url = None, json: Json = False
) -> None:
    """List doubts, the oldest first."""
    with reached(url) as conn:
        rows = ask(conn, "list_doubts", {"kind": kind, "at_most": limit})
    table(rows, COLUMNS, as_json=json, nothing="nothing is in doubt")


@app.command()
def sent(kind: KindName, key: Key, by: By, reason: Reason = None, url: Url = None, json: Json = False) -> None:
    """Decide that it was sent: nothing is sent again."""
    _resolve(kind, key, "sent", by=by, reason=reason, json=json, url=url)


@app.command("not-sent")
def not_sent(kind: KindName, key: Key, by: By, reason: Reason = None, url: Url = None, json: Json = False) -> None:
    """Decide that it was not sent: a fresh job sends it."""
    _resolve(kind, key, "not_sent", by=by, reason=reason, json=json, url=url)


def _resolve(kind: str, key: str, decision: str, *, by: str, reason: str | None, json: bool, url: str | None) -> None:
    values = {"kind": kind, "key": key, "decision": decision, "by": by, "reason": reason}
    with reached(url) as conn:
        fresh = ask_one(conn, "resolve_doubt", values)
    if json:
        say_json({"kind": kind, "key": key, "decision": decision, "job": fresh})
    elif fresh is None:
        say(f"{kind} {key}: {decision.replace('_', ' ')}")
    else:
        say(f"{kind} {key}: job {fresh} sends it")
