"""A deployment of the kinds that ship, ticked for real."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

from crontick.jobs.deployment import load_deployment
from crontick.jobs.kind import Kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.summary import Summary


class Deployed:
    """``enqueue`` a payload of a kind, ``tick``, and look at what became of the job."""

    def __init__(self, url: str, conn: psycopg.AsyncConnection[Any], config: Path | None) -> None:
        settings = Settings(database_url=url, environment="test", config_path=config, keep_connection_seconds=0)
        self.deployment = load_deployment(settings)
        self.conn = conn

    async def enqueue(self, kind: Kind[Any], payload: object, **options: Any) -> int:
        return await kind.enqueue(self.conn, payload, **options)

    async def tick(self, request: TickRequest | None = None) -> Summary:
        return await run_tick(self.deployment, request or TickRequest())

    async def job(self, job: int) -> dict[str, Any]:
        """The job as the views show it."""
        cursor = await self.conn.execute("select to_jsonb(j)::text from crontick.jobs j where id = %s", (job,))
        [row] = await cursor.fetchall()
        return msgspec.json.decode(row[0])  # type: ignore[no-any-return]

    async def attempts(self, job: int) -> list[dict[str, Any]]:
        cursor = await self.conn.execute(
            "select to_jsonb(a)::text from crontick.attempts a where job = %s order by number", (job,)
        )
        return [msgspec.json.decode(row[0]) for row in await cursor.fetchall()]

    async def seconds_until(self, job: int) -> float:
        """From the database's now to when the job runs again."""
        cursor = await self.conn.execute(
            "select extract(epoch from run_at - crontick.now())::float8 from crontick.jobs where id = %s", (job,)
        )
        [row] = await cursor.fetchall()
        return float(row[0])

    async def later(self, length: timedelta) -> None:
        """Move the database's clock."""
        await self.conn.execute("update crontick.test_clock set ahead = ahead + %s", (length,))


@pytest.fixture
def deploy(database: str, conn: psycopg.AsyncConnection[Any], tmp_path: Path) -> Callable[[str], Deployed]:
    """Give it the text of a ``crontick.toml``."""

    def deployed(config: str) -> Deployed:
        path = tmp_path / "crontick.toml"
        path.write_text(config)
        return Deployed(database, conn, path)

    return deployed
