"""Kinds of a test's own, ticked for real against a database of its own."""

from collections.abc import Sequence
from typing import Any

import msgspec
import psycopg
import pytest

from crontick.jobs.deployment import load_deployment
from crontick.jobs.kind import Kind
from crontick.jobs.process import run_tick
from crontick.jobs.reminders import Reminder
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.summary import Summary


class World:
    """``tick`` some kinds, look at what became of their jobs, and move the clock."""

    def __init__(self, url: str, conn: psycopg.AsyncConnection[Any]) -> None:
        self.url = url
        self.conn = conn
        self.reminders: Sequence[Reminder] = ()
        self.settings: dict[str, Any] = {}

    async def tick(self, *kinds: Kind[Any], url: str | None = None, **request: Any) -> Summary:
        """One tick of a deployment that has these kinds (and the world's reminders and settings)."""
        known = {"environment": "test", "keep_connection_seconds": 0, **self.settings}
        settings = Settings(database_url=url or self.url, **known)
        deployment = load_deployment(settings, kinds=kinds, reminders=self.reminders)
        return await run_tick(deployment, TickRequest(**request))

    async def rows(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        cursor = await self.conn.execute(text.encode(), values or None)
        return await cursor.fetchall() if cursor.description else []

    async def one(self, text: str, *values: object) -> Any:
        """The first column of the first row."""
        found = await self.rows(text, *values)
        return found[0][0] if found else None

    async def job(self, job: int) -> dict[str, Any]:
        told = await self.one("select to_jsonb(j)::text from crontick.jobs as j where id = %s", job)
        return dict(msgspec.json.decode(told))

    async def status(self, *jobs: int) -> list[str]:
        """The status of each job."""
        found = dict(await self.rows("select id, status from crontick.jobs where id = any(%s)", list(jobs)))
        return [found[job] for job in jobs]

    async def counts(self) -> dict[str, int]:
        """How many jobs have which status."""
        return dict(await self.rows("select status, count(*) from crontick.jobs group by 1"))

    async def delay(self, job: int) -> float:
        """Seconds from the database's now until the job runs again."""
        asked = "select extract(epoch from run_at - crontick.now())::float8 from crontick.jobs where id = %s"
        return float(await self.one(asked, job))

    async def later(self, seconds: float) -> None:
        await self.conn.execute("update crontick.test_clock set ahead = ahead + make_interval(secs => %s)", (seconds,))


@pytest.fixture(params=["direct", "through PgBouncer"])
def world(request: pytest.FixtureRequest, database: str, conn: psycopg.AsyncConnection[Any]) -> World:
    """Twice: ticks reach the database themselves, and through a pooler that keeps no session."""
    url = database if request.param == "direct" else request.getfixturevalue("pgbouncer")
    return World(url, conn)
