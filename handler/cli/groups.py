"""Groups whose head keeps others waiting."""

from typing import Final

from crontick.handler.cli.database import ask, reached
from crontick.handler.cli.options import Count, Json, Url
from crontick.handler.cli.screen import table

COLUMNS: Final = (
    "group_key", "head", "head_kind", "head_status", "head_held_by", "head_attempt", "head_age", "head_run_at",
    "waiting", "oldest_age", "head_error",
)  # fmt: skip


def groups(limit: Count = 50, url: Url = None, json: Json = False) -> None:
    """List groups in which jobs wait for the first one, those that have waited longest before others."""
    with reached(url) as conn:
        rows = ask(conn, "list_groups", {"at_most": limit})
    table(rows, COLUMNS, as_json=json, nothing="no group waits")
