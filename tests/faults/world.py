"""A migrated database, the kinds of ``doomed``, and what a test asks of them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import psycopg

from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.kind import Kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.summary import Summary
from tests.faults.doomed import KINDS
from tests.worlds.process import Child, Processes


def deployed(url: str, kinds: Iterable[Kind[Any]] = KINDS, **settings: Any) -> Deployment:
    """A deployment of these kinds that keeps no connection between its ticks, unless told otherwise."""
    said = {"environment": "test", "keep_connection_seconds": 0, **settings}
    if "config_path" in said:
        said["config_path"] = Path(said["config_path"])
    return load_deployment(Settings(database_url=url, **said), kinds=kinds)


@dataclass(slots=True)
class World:
    """``tick`` ticks in this process, ``doomed`` in another one that prints what it does."""

    url: str
    conn: psycopg.AsyncConnection[Any]
    processes: Processes
    settings: dict[str, Any] = field(default_factory=dict)

    async def tick(self, url: str | None = None, **request: Any) -> Summary:
        return await run_tick(deployed(url or self.url, **self.settings), TickRequest(**request))

    def doomed(self, url: str | None = None, **settings: Any) -> Child:
        told = msgspec.json.encode({**self.settings, **settings}).decode()
        return self.processes.run("-m", "tests.faults.doomed", url or self.url, told)

    async def enqueue(self, kind: Kind[Any], payload: Any = None, **options: Any) -> int:
        return int(await kind.enqueue(self.conn, payload or {}, **options))

    async def later(self, length: str) -> None:
        """Move the database's clock."""
        await self.conn.execute("update crontick.test_clock set ahead = ahead + %s::interval", (length,))

    async def rows(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        return await (await self.conn.execute(text.encode(), values)).fetchall()

    async def value(self, text: str, *values: Any) -> Any:
        [[value]] = await self.rows(text, *values)
        return value

    async def status(self, job: int) -> str:
        return str(await self.value("select status from crontick.jobs where id = %s", job))

    async def outcomes(self, job: int) -> list[str]:
        """How its attempts ended, plain successes left out."""
        rows = await self.rows("select outcome from crontick.attempts where job = %s order by ended_at, number", job)
        return [row[0] for row in rows]

    async def runs(self, job: int) -> int:
        """How often its function wrote its row."""
        return int(await self.value("select count(*) from ran where job = %s", job))

    async def blocked(self, holder: int) -> bool:
        """Whether somebody waits for a lock of that backend."""
        text = "select exists (select from pg_stat_activity where %s = any(pg_blocking_pids(pid)))"
        return bool(await self.value(text, holder))
