"""The last ticks, and who called them."""

from typing import Annotated, Final

import typer

from crontick.handler.cli.database import ask, reached
from crontick.handler.cli.options import Count, Json, Url
from crontick.handler.cli.screen import Row, say, say_json, table
from crontick.handler.lengths import lasting

COLUMNS: Final = (
    "id",
    "started_at",
    "trigger",
    "ended",
    "took",
    "late",
    "claimed",
    "succeeded",
    "failed",
    "dead",
    "handed_back",
    "rescued",
    "lost",
)

TRIGGERS: Final = ("trigger", "expected", "ticks", "last_at", "median", "p95", "longest", "late")
GAPS: Final = (
    ("up_to_half", "sooner"),
    ("on_time", "on time"),
    ("up_to_twice", "up to twice"),
    ("late_gaps", "late, up to four times"),
    ("missing_gaps", "missing, longer"),
)
BAR: Final = 40


def ticks(
    trigger: Annotated[str | None, typer.Option(help="Only those that this one called.")] = None,
    below: Annotated[int | None, typer.Option(help="Go on below this id: the last one of the page before.")] = None,
    triggers: Annotated[
        bool, typer.Option("--triggers", help="Who calls, how often, and how late; instead of ticks.")
    ] = False,
    limit: Count = 20,
    url: Url = None,
    json: Json = False,
) -> None:
    """List ticks, the latest first: when each came, what called it, how it ended."""
    if triggers:
        _show_triggers(url, json=json)
        return
    with reached(url) as conn:
        rows = ask(conn, "list_ticks", {"trigger": trigger, "below": below, "at_most": limit})
    if json:
        say_json(rows)
    else:
        table(rows, COLUMNS, as_json=False, nothing="no tick has come yet: call POST /cron/tick")


def _show_triggers(url: str | None, *, json: bool) -> None:
    with reached(url) as conn:
        rows = ask(conn, "list_triggers")
    if json:
        say_json(rows)
        return
    table(rows, TRIGGERS, as_json=False, nothing="no tick has come yet: call POST /cron/tick")
    for row in rows:
        if row["expected"] is not None:
            _draw_gaps(row)


def _draw_gaps(row: Row) -> None:
    """The gaps between the ticks of one trigger, a bar for each length."""
    say(f"{row['trigger']}, gaps beside the expected {lasting(row['expected'])}:")
    most = max(row[name] for name, _ in GAPS) or 1
    for name, words in GAPS:
        bar = "#" * -(-row[name] * BAR // most)
        say(f"  {words:<24}{row[name]:>6} {bar}".rstrip())
