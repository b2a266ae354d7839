"""What is wrong and what was, and silence about it for a while."""

from datetime import timedelta
from typing import Annotated, Final, get_args

import typer

from crontick.handler.cli.database import ask, ask_one, connected
from crontick.handler.cli.options import By, Count, Json, Reason, length
from crontick.handler.cli.screen import cell, complain, say, say_json
from crontick.handler.cli.screen import table as shown
from crontick.jobs.outward_sections import AlertName

app: Final = typer.Typer(help="What is wrong and what was, and silence about it for a while.")
COLUMNS: Final = ("name", "subject", "since", "ended_at", "counted", "silenced_until", "what", "mend")
NAMES: Final = frozenset(get_args(AlertName))


@app.callback(invoke_without_command=True)
def alerts(context: typer.Context, limit: Count = 50, json: Json = False) -> None:
    """List what is wrong just now; `crontick alerts list` shows what is over, too."""
    if context.invoked_subcommand is None:
        _list(limit=limit, json=json, active=True)


@app.command("list")
def list_(limit: Count = 50, json: Json = False) -> None:
    """List alerts, what is active first, then what ended last."""
    _list(limit=limit, json=json, active=False)


@app.command()
def silence(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As the list shows it; NAME:SUBJECT for one of several.")],
    for_: Annotated[
        timedelta, typer.Option("--for", parser=length, metavar="LENGTH", help="Such as 2h; 0s ends a silence.")
    ],
    by: By,
    reason: Reason = None,
    json: Json = False,
) -> None:
    """Tell nobody of these alerts for so long; what is still wrong afterwards is told then."""
    if name.partition(":")[0] not in NAMES:
        raise typer.BadParameter(f"{name!r} is no alert: one of {', '.join(sorted(NAMES))}")
    asked = {"name": name, "seconds": for_.total_seconds(), "by": by, "reason": reason}
    with connected() as conn:
        until = ask_one(conn, "silence_alert", asked)
    if json:
        say_json({"name": name, "until": until})
    else:
        say(f"{name}: silent until {cell(until)}" if for_ else f"{name}: told again")


def _list(*, limit: int, json: bool, active: bool) -> None:
    with connected() as conn:
        rows = ask(conn, "list_alerts", {"active": active, "at_most": limit})
        silences = ask(conn, "list_silences")
    if json:
        say_json({"alerts": rows, "silences": silences})
        return
    shown(rows, COLUMNS, as_json=False, nothing="nothing is wrong" if active else "no alerts")
    for row in rows:
        if row["not_told"] is not None:
            complain(f"{row['name']} could not be told yet: {row['not_told']}")
    for one in silences:
        reason = f" ({one['reason']})" if one["reason"] else ""
        complain(f"silent: {one['name']} until {cell(one['until'])} by {one['by']}{reason}")
