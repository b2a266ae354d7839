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
from tests.worlds.waiting import async_until


def deployed(url: str, kinds: Iterable[Kind[Any]] = KINDS, **settings: Any) -> Deployment:
    """A deployment of these kinds that keeps no connection between its ticks, unless told otherwise."""
    said = {"environment": "test", "keep_connection_seconds": 0, **settings}
    if "config_path" in said:
        said["config_path"] = Path(said["config_path"])
    return load_deployment(Settings(database_url=url, **said), kinds=kinds)


HOLD = """
create table held (nth int); insert into held values (1);
create function hold() returns trigger language plpgsql as
$$ begin while exists (select from public.held) loop perform pg_sleep(0.05); end loop; return new; end $$;
create trigger hold before {event} for each row {only_when} execute function hold()
"""
IN_IT = "select pid from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"


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

    async def hold(self, event: str, only_when: str = "") -> None:
        """Whoever does that stays in the middle of it, until ``go_on``; a lock would be given up after a second."""
        await self.conn.execute(HOLD.format(event=event, only_when=only_when).encode())

    async def session_in_it(self) -> int:
        """The database session that stays there."""
        [(session,)] = await async_until(lambda: self.rows(IN_IT), seconds=30)
        return int(session)

    async def go_on(self) -> None:
        """Let it."""
        await self.conn.execute("delete from held")

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
