"""Ticks of a deployment with ``[fan_out]``, whose own URL is a receiver that keeps what it is asked."""

import json
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.kind import Kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.summary import Summary
from tests.worlds.http_receiver import HttpReceiver

TOKEN = "5d0c1e7fa3b94d62"


@kind("nothing", needs=0.1)
async def nothing(payload: dict[str, int], ctx: Context) -> None:
    pass


class World:
    """Due jobs, ticks, and what was asked for."""

    def __init__(self, url: str, conn: psycopg.AsyncConnection[Any], receiver: HttpReceiver, config: Path) -> None:
        self.url = url
        self.conn = conn
        self.receiver = receiver
        self.config = config
        self.settings: dict[str, Any] = {}
        self.fan_out: dict[str, object] = {}

    def deployment(self, *kinds: Kind[Any]) -> Deployment:
        lines = [f"{name} = {json.dumps(value)}" for name, value in self.fan_out.items()]
        self.config.write_text("\n".join(["[fan_out]", *lines]))
        known = {
            "environment": "test",
            "keep_connection_seconds": 0,
            "cron_secrets": (TOKEN,),
            "public_url": self.receiver.url,
            "config_path": self.config,
            **self.settings,
        }
        return load_deployment(Settings(database_url=self.url, **known), kinds=kinds or [nothing])

    async def tick(self, *kinds: Kind[Any], **request: Any) -> Summary:
        return await run_tick(self.deployment(*kinds), TickRequest(**request))

    async def enqueue(self, jobs: int, name: str = "nothing", *, queue: str | None = None) -> None:
        await self.conn.execute(
            "select crontick.enqueue(%s, queue => %s) from generate_series(1, %s)", (name, queue, jobs)
        )

    async def one(self, text: str) -> Any:
        row = await (await self.conn.execute(text.encode())).fetchone()
        assert row is not None
        return row[0]

    async def unfinished(self) -> int:
        return int(await self.one("select count(*) from crontick.unfinished_jobs"))

    async def later(self, length: str) -> None:
        """Move the database's clock."""
        await self.conn.execute("update crontick.test_clock set ahead = ahead + %s::interval", (length,))


@pytest.fixture
def world(database: str, conn: psycopg.AsyncConnection[Any], http_receiver: HttpReceiver, tmp_path: Path) -> World:
    return World(database, conn, http_receiver, tmp_path / "crontick.toml")
