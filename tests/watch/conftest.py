"""A world with watchers: as processes of their own, or as a task of this one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

import psycopg
import pytest

from crontick.handler.watch_ticks import WatchTicks
from crontick.jobs.kind import Kind
from crontick.jobs.stop import Stop
from crontick.jobs.watch import Watch
from tests.faults.world import World, deployed
from tests.watch import kinds
from tests.worlds.process import Child, Processes
from tests.worlds.waiting import async_until, until

COMMAND = "import sys; from crontick.handler.cli.run import run; sys.exit(run(sys.argv[1:]))"

Watching: TypeAlias = Callable[..., AbstractAsyncContextManager["Inside"]]


@pytest.fixture
async def world(database: str, conn: psycopg.AsyncConnection[Any], processes: Processes) -> World:
    await conn.execute("create table ran (job bigint not null, attempt int not null)")
    return World(database, conn, processes)


@dataclass(slots=True)
class Watchers:
    """Starts ``crontick watch`` on the world's database."""

    world: World

    def start(self, *arguments: str, url: str | None = None, script: str = COMMAND, **env: str) -> Child:
        said = {
            "CRONTICK_DATABASE_URL": url or self.world.url,
            "CRONTICK_ENVIRONMENT": "test",
            "CRONTICK_MODULES": "tests.watch.kinds",
            **env,
        }
        return self.world.processes.start(script, "watch", "--every", "1h", *arguments, env=said)

    async def listening(self, many: int = 1) -> None:
        """So many are registered, and have had their first tick."""
        await async_until(lambda: self._listen(many))

    async def _listen(self, many: int) -> bool:
        return bool(
            await self.world.value(
                "select (select count(*) from crontick.watchers where listens) = %s"
                " and (select count(*) from crontick.ticks where trigger = 'watch' and ended_at is not null) >= %s",
                many,
                many,
            )
        )


@pytest.fixture
def watchers(world: World) -> Watchers:
    return Watchers(world)


@dataclass(slots=True)
class Inside:
    """A watcher in this process."""

    watch: Watch
    stop: Stop

    def end(self) -> None:
        """As the first signal does, with no time at all for what runs."""
        self.stop.ask(cut_in_seconds=0)
        self.watch.stopped()


@asynccontextmanager
async def watched(
    url: str,
    listen_url: str | None = None,
    *,
    every_seconds: float = 3600,
    known: Iterable[Kind[Any]] = (kinds.note, kinds.wait),
    **settings: Any,
) -> AsyncIterator[Inside]:
    """A watcher in this process, while inside, which ends it and waits for its end."""
    stop = Stop()
    watch = Watch(WatchTicks(deployed(url, known, **settings), stop).tick, stop, every_seconds=every_seconds)
    inside = Inside(watch, stop)
    running = asyncio.create_task(watch.run(listen_url or url))
    try:
        yield inside
    finally:
        inside.end()
        assert await asyncio.wait_for(running, 60) == "asked"


@pytest.fixture
def watching(world: World) -> Watching:
    """The same, on the world's database; it has registered when the block begins."""

    @asynccontextmanager
    async def registered(url: str | None = None, *urls: str, **options: Any) -> AsyncIterator[Inside]:
        async with watched(url or world.url, *urls, **options) as inside:
            await async_until(lambda: world.value("select count(*) > 0 from crontick.watchers"))
            yield inside

    return registered


async def ran(world: World, job: int) -> None:
    """The job ran, once."""
    await async_until(lambda: world.value("select count(*) from ran where job = %s", job))
    assert await world.value("select count(*) from ran where job = %s", job) == 1


def said(child: Child, words: str) -> None:
    """Its log has them."""
    until(lambda: words in child.errors)
