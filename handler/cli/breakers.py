"""Breakers: targets that keep failing and are left alone for a while."""

from typing import Annotated, Final

import typer

from crontick.handler.cli.database import ask, reached
from crontick.handler.cli.options import By, Count, Json, Reason, Url
from crontick.handler.cli.screen import say, say_json, table

app: Final = typer.Typer(help="Targets that keep failing and are left alone for a while.")
COLUMNS: Final = ("target", "state", "waiting", "failures", "times_opened", "opened_at", "retry_at", "by", "reason")

Target = Annotated[
    str, typer.Argument(metavar="TARGET", help="As `crontick breakers` shows it: endpoint:NAME, kind:NAME or a URL.")
]


@app.callback(invoke_without_command=True)
def breakers(context: typer.Context, limit: Count = 50, url: Url = None, json: Json = False) -> None:
    """List targets that failed lately, what is open first.

    `waiting` counts the jobs that the breaker holds; those that failed and wait for their time are not among them.
    """
    if context.invoked_subcommand is None:
        with reached(url) as conn:
            rows = ask(conn, "list_breakers", {"at_most": limit, "open_only": False})
        table(rows, COLUMNS, as_json=json, nothing="no target failed lately")


@app.command("open")
def open_(target: Target, by: By, reason: Reason = None, url: Url = None, json: Json = False) -> None:
    """Send nothing there until somebody closes it; its jobs wait and keep their attempts."""
    _act("open_breaker", "open", target, by=by, reason=reason, json=json, url=url)


@app.command()
def close(target: Target, by: By, reason: Reason = None, url: Url = None, json: Json = False) -> None:
    """Send again now, in batches that grow."""
    _act("close_breaker", "closed", target, by=by, reason=reason, json=json, url=url)


@app.command()
def reset(target: Target, by: By, reason: Reason = None, url: Url = None, json: Json = False) -> None:
    """Send again now, and forget how often it failed and opened."""
    _act("reset_breaker", "closed", target, by=by, reason=reason, json=json, url=url)


def _act(query: str, state: str, target: str, *, by: str, reason: str | None, json: bool, url: str | None) -> None:
    with reached(url) as conn:
        ask(conn, query, {"target": target, "by": by, "reason": reason})
    if json:
        say_json({"target": target, "state": state})
    else:
        say(f"{target}: {state}")
