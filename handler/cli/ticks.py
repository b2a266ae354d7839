"""The last ticks."""

from typing import Annotated, Final

import typer

from crontick.handler.cli.database import ask, connected
from crontick.handler.cli.options import Count, Json
from crontick.handler.cli.screen import say_json, table

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


def ticks(
    trigger: Annotated[str | None, typer.Option(help="Only those that this one called.")] = None,
    below: Annotated[int | None, typer.Option(help="Go on below this id: the last one of the page before.")] = None,
    limit: Count = 20,
    json: Json = False,
) -> None:
    """List ticks, the latest first: when each came, what called it, how it ended."""
    with connected() as conn:
        rows = ask(conn, "list_ticks", {"trigger": trigger, "below": below, "at_most": limit})
    if json:
        say_json(rows)
    else:
        table(rows, COLUMNS, as_json=False, nothing="no tick has come yet: call POST /cron/tick")
