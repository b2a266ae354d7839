"""How fast one tick process drains no-op jobs, beside raw psycopg doing the same claims and settles."""

import asyncio
import dataclasses
import functools
import statistics
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import psycopg

from crontick.jobs import kind
from crontick.jobs.bounds import Bounds
from crontick.jobs.caller import Caller
from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.exchange import Exchanges
from crontick.jobs.lend import Lender
from crontick.jobs.link import Link
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.stop import Stop
from crontick.jobs.supplies import TickSupplies
from crontick.jobs.tick import tick
from tests.bench import floor
from tests.bench.rows import fill

__all__ = ["Drained", "Drains", "drain_in_turns", "speed_kept"]

_BUDGET_SECONDS: Final = 600.0


@kind("noop")
async def noop(payload: dict[str, int]) -> None:
    """Nothing: what is measured is everything else."""


@dataclasses.dataclass(frozen=True, slots=True)
class Drained:
    """One drain, or the best of several."""

    jobs_per_second: float
    wal_bytes_per_job: float


@dataclasses.dataclass(frozen=True, slots=True)
class Drains:
    """The drains of one database, the floor and crontick in turns."""

    floors: list[Drained] = dataclasses.field(default_factory=list)
    ours: list[Drained] = dataclasses.field(default_factory=list)

    def best(self) -> tuple[Drained, Drained]:
        """The floor's, and crontick's: what else the machine and its storage do slows a drain, and hastens none."""
        return _best(self.floors), _best(self.ours)


def drain_in_turns(urls: Sequence[str], *, jobs: int, batch: int, rounds: int) -> list[Drains]:
    """For each database the floor and crontick, all in turns, each from the same number of due jobs.

    Every other round goes backwards, so that nobody is always the one after another.
    """
    measured = [Drains() for _ in urls]
    for nth in range(rounds):
        turns = [
            (url, drains, is_floor) for url, drains in zip(urls, measured, strict=True) for is_floor in (True, False)
        ]
        for url, drains, is_floor in turns if nth % 2 == 0 else reversed(turns):
            with psycopg.connect(url, autocommit=True) as conn:
                if is_floor:
                    drains.floors.append(_measure(conn, functools.partial(floor.drain, url, batch), jobs))
                else:
                    deployment = load_deployment(
                        Settings(database_url=url, environment="test", concurrency=batch), kinds=[noop]
                    )
                    drains.ours.append(_measure(conn, functools.partial(_drain, deployment, url, batch), jobs))
    return measured


def speed_kept(alone: Drains, among: Drains) -> tuple[float, float]:
    """How much of their speed the floor and crontick keep among other rows."""
    floor_kept, kept = (
        crowded.jobs_per_second / empty.jobs_per_second
        for empty, crowded in zip(alone.best(), among.best(), strict=True)
    )
    return floor_kept, kept


def _measure(conn: psycopg.Connection[Any], way: Callable[[], Coroutine[Any, Any, int]], jobs: int) -> Drained:
    conn.execute(
        "vacuum crontick.unfinished_jobs"
    )  # of the rows that the drain before left dead: each has its own only
    fill(conn, jobs)
    conn.execute("checkpoint")
    before = _one(conn, "select pg_current_wal_lsn()::text")
    started = time.perf_counter()
    done = asyncio.run(way())
    seconds = time.perf_counter() - started
    if done != jobs:
        raise RuntimeError(f"{done} of {jobs} jobs were drained")
    wal = float(_one(conn, "select pg_current_wal_lsn() - %s::pg_lsn", before))
    return Drained(jobs / seconds, wal / jobs)


async def _drain(deployment: Deployment, url: str, batch: int) -> int:
    """One tick without a limit, as `crontick tick --limit none` makes it."""
    bounds = Bounds(
        limit=10**9, concurrency=batch, budget_seconds=_BUDGET_SECONDS, host_limit_seconds=None, stop=Stop()
    )
    link = Link(url, lambda: bounds.left)
    supplies = TickSupplies(link, deployment, bounds, Lender(url, 0))
    try:
        summary = await tick(Exchanges(link, deployment, bounds, TickRequest()), supplies, bounds, Caller("bench"))
    finally:
        await supplies.close()
        await link.close()
    return summary.succeeded


def _one(conn: psycopg.Connection[Any], text: str, *values: object) -> Any:
    row = conn.execute(text.encode(), values).fetchone()
    return None if row is None else row[0]


def _best(results: list[Drained]) -> Drained:
    return Drained(
        max(result.jobs_per_second for result in results),
        statistics.median(result.wal_bytes_per_job for result in results),
    )
