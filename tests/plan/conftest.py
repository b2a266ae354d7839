"""Commands on a migrated database, and a week in it whose clock stands still between two moves."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from crontick.jobs import kind
from tests.cli.conftest import bare, cli
from tests.engine.conftest import World

__all__ = ["bare", "cli"]

WEEK_STARTS = datetime(2026, 11, 2, tzinfo=UTC)
WEEK_ENDS = WEEK_STARTS + timedelta(days=7)


@kind("note")
async def note(_: dict[str, Any]) -> None: ...


class Week(World):
    """Its clock is what ``at`` set last, for the ticks that connect from then on and for the world itself."""

    async def at(self, moment: datetime) -> None:
        name = urlsplit(self.url).path.removeprefix("/")
        await self.conn.execute(f"alter database {name} set \"crontick.now\" = '{moment.isoformat()}'".encode())
        await self.conn.execute("select set_config('crontick.now', %s, false)", (moment.isoformat(),))

    async def enqueue(self, run_at: datetime, jobs: int) -> None:
        await self.conn.execute(
            "select crontick.enqueue('note', '{}', run_at => %s) from generate_series(1, %s)", (run_at, jobs)
        )


@pytest.fixture
def week(database: str, conn: psycopg.AsyncConnection[Any]) -> Week:
    return Week(database, conn)
