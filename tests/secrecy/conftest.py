"""A deployment with secret kinds and keys, against a database of its own."""

import base64
import os
from typing import Any

import psycopg
import pytest

from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.kind import Kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.sealing import KEYS
from crontick.jobs.settings import Settings
from crontick.jobs.summary import Summary
from tests.secrecy.logins import RAN


def new_key(name: str) -> str:
    return f"{name}:{base64.b64encode(os.urandom(32)).decode()}"


class Vault:
    """``tick`` some kinds with some keys, and look at what lies in the tables."""

    def __init__(self, url: str, conn: psycopg.AsyncConnection[Any], key: str) -> None:
        self.url = url
        self.conn = conn
        self.key = key

    def deployment(self, *kinds: Kind[Any], keys: tuple[str, ...] | None = None, url: str | None = None) -> Deployment:
        settings = Settings(
            database_url=url or self.url,
            environment="test",
            keep_connection_seconds=0,
            encryption_keys=(self.key,) if keys is None else keys,
        )
        return load_deployment(settings, kinds=kinds)

    async def tick(self, *kinds: Kind[Any], keys: tuple[str, ...] | None = None, **request: Any) -> Summary:
        return await run_tick(self.deployment(*kinds, keys=keys), TickRequest(**request))

    async def one(self, text: str, *values: object) -> Any:
        row = await (await self.conn.execute(text.encode(), values or None)).fetchone()
        return row[0] if row else None

    async def lying(self) -> str:
        """Everything that the tables hold, as one text."""
        tables = "select tablename from pg_catalog.pg_tables where schemaname = 'crontick' order by 1"
        told = []
        for (table,) in await (await self.conn.execute(tables.encode())).fetchall():
            told.append(await self.one(f"select coalesce(string_agg(t::text, chr(10)), '') from crontick.{table} as t"))
        return "\n".join(told)

    async def payload(self, job: int) -> dict[str, Any]:
        found: dict[str, Any] = await self.one("select payload from crontick.jobs where id = %s", job)
        return found

    async def status(self, job: int) -> tuple[str, str | None]:
        row = await (
            await self.conn.execute("select status, held_by from crontick.jobs where id = %s", (job,))
        ).fetchone()
        assert row is not None
        return row[0], row[1]

    async def later(self, seconds: float) -> None:
        await self.conn.execute("update crontick.test_clock set ahead = ahead + make_interval(secs => %s)", (seconds,))


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    """The key of this process, which enqueues."""
    key = new_key("k1")
    monkeypatch.setenv(KEYS, key)
    return key


@pytest.fixture
def vault(database: str, conn: psycopg.AsyncConnection[Any], key: str) -> Vault:
    RAN.clear()
    return Vault(database, conn, key)
