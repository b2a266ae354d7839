"""Reports on a table of a test's own, made by real ticks."""

import gzip
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs.deployment import load_deployment
from crontick.jobs.kinds.generate_report import generate_report
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.summary import Summary

SALES = """
[[report]]
name = "sales"
query = "select id, buyer, amount from sales"
key = "id"
chunk_rows = 10
"""


class Reports:
    """``start`` a report, ``tick``, and read the file that it became."""

    def __init__(self, url: str, conn: psycopg.AsyncConnection[Any], folder: Path) -> None:
        self.url = url
        self.conn = conn
        self.config = folder / "crontick.toml"
        self.say(SALES)
        self.settings: dict[str, Any] = {}

    def say(self, config: str) -> None:
        """What ``crontick.toml`` says from now on."""
        self.config.write_text(config)

    async def start(self, payload: Any = None, **options: Any) -> int:
        """The run, which has the id of its first job."""
        wanted: Any = payload or {"report": "sales"}
        return int(await generate_report.enqueue(self.conn, wanted, **options))

    async def tick(self, **request: Any) -> Summary:
        known = {"environment": "test", "keep_connection_seconds": 0, **self.settings}
        settings = Settings(database_url=self.url, config_path=self.config, **known)
        return await run_tick(load_deployment(settings), TickRequest(**request))

    async def rows(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        cursor = await self.conn.execute(text.encode(), values or None)
        return await cursor.fetchall() if cursor.description else []

    async def sell(self, *ids: int) -> None:
        """Rows with these keys."""
        await self.rows("insert into sales select n, 'buyer ' || n, n / 4.0 from unnest(%s::int[]) as n", list(ids))

    async def run(self, run: int) -> dict[str, Any]:
        cursor = await self.conn.execute("select to_jsonb(r) from crontick.report_runs as r where id = %s", (run,))
        [(told,)] = await cursor.fetchall()
        return dict(told)

    async def content(self, run: int) -> bytes:
        """The whole file, as it is stored."""
        parts = await self.rows("select content from crontick.report_parts where run = %s order by begins_at", run)
        return b"".join(part[0] for part in parts)

    async def text(self, run: int) -> str:
        """The file, unpacked."""
        content = await self.content(run)
        return (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()

    async def later(self, length: str) -> None:
        await self.rows("update crontick.test_clock set ahead = ahead + %s::interval", length)

    async def job(self, job: int) -> tuple[str, str]:
        """Its status and its last error."""
        [(status, error)] = await self.rows("select status, last_error from crontick.jobs where id = %s", job)
        return status, error or ""


@pytest.fixture
async def reports(database: str, conn: psycopg.AsyncConnection[Any], tmp_path: Path) -> Reports:
    await conn.execute("create table sales (id bigint primary key, buyer text, amount numeric)")
    return Reports(database, conn, tmp_path)
