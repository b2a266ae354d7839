"""The lines in which jobs wait for a limit."""

from typing import Final

from crontick.handler.cli.database import ask, reached
from crontick.handler.cli.options import Count, Json, Url
from crontick.handler.cli.screen import table

COLUMNS: Final = ("name", "key", "says", "waiting", "oldest_due_at", "next_room_at")


def limits(limit: Count = 50, url: Url = None, json: Json = False) -> None:
    """List the lines in which jobs wait for a limit of crontick.toml, the longest first."""
    with reached(url) as conn:
        rows = ask(conn, "list_limits", {"at_most": limit})
    table(rows, COLUMNS, as_json=json, nothing="nothing waits for a limit")
