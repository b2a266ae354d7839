"""What an operator decides over HTTP: named queries that act, and why one was refused."""

from collections.abc import Mapping
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

from crontick.jobs.report_files import opened
from crontick.sql import query

__all__ = ["NotDone", "act", "breakers"]

_BREAKERS_AT_MOST: Final = 1000


class NotDone(Exception):
    """The database refused, in its own words with the mend; ``missing``: what was named is not there."""

    def __init__(self, sentence: str, *, missing: bool) -> None:
        super().__init__(sentence)
        self.missing = missing


async def act(url: str | None, name: str, values: Mapping[str, Any]) -> None:
    """Run that query. Raises ``NotDone`` and ``Unavailable``."""
    refused: psycopg.Error | None = None
    async with opened(url) as conn:
        try:
            await conn.execute(query(name).text.encode(), values)
        except psycopg.Error as error:
            if not (error.sqlstate or "").startswith("CT"):
                raise
            refused = error
    if refused is not None:
        told = refused.diag
        raise NotDone(f"{told.message_primary}: {told.message_hint}", missing=refused.sqlstate == "CT404")


async def breakers(url: str | None) -> list[dict[str, Any]]:
    """Targets that failed lately, what is open first. Raises ``Unavailable``."""
    async with opened(url) as conn, conn.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(query("list_breakers").text.encode(), {"at_most": _BREAKERS_AT_MOST, "open_only": False})
        return await cursor.fetchall()
