"""The schedules in force: when they fire next, and firing one now."""

from typing import Annotated, Any, Final

import typer

from crontick.handler.cli.database import ask, ask_one, reached
from crontick.handler.cli.options import By, Json, Reason, Url
from crontick.handler.cli.screen import cell, record, say, say_json, table
from crontick.jobs.fire import Due, next_slots

COLUMNS: Final = ("name", "cron", "tz", "kind", "next", "last_job", "fired", "missed", "skipped", "why")
NEXT: Final = 5


def list_(url: Url = None, json: Json = False) -> None:
    """List the schedules in force, with the next five times of each and what keeps it."""
    with reached(url) as conn:
        rows = [row if "next" in row else _with_next(row) for row in ask(conn, "list_schedules")]
    if json:
        table(rows, COLUMNS, as_json=True, nothing="")
    elif not rows:
        table(rows, COLUMNS, as_json=False, nothing="no schedules are in force")
    else:
        for row in rows:
            told = {**row, "next": ", ".join(map(cell, row["next"])) or None}
            record({column: told[column] for column in COLUMNS}, as_json=False)
            say("")


def run(
    name: Annotated[str, typer.Argument(help="As `crontick schedules list` shows it.")],
    by: By,
    reason: Reason = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Enqueue its job now, beside its slots."""
    with reached(url) as conn:
        job = ask_one(conn, "run_schedule", {"name": name, "by": by, "reason": reason})
    if json:
        say_json({"schedule": name, "job": job})
    else:
        say(f"{name}: job {job}")


def _with_next(row: dict[str, Any]) -> dict[str, Any]:
    due = Due(**{name: row[name] for name in Due.__struct_fields__})
    return {**row, "next": next_slots(due, row["now"], NEXT)}
