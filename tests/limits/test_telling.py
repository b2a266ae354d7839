"""What waits for a limit is told: why, until when, and what a tick would do."""

from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs import kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.settings import Settings
from crontick.jobs.testing import clock, drain
from tests.limits.conftest import LimitedWorld

pytestmark = pytest.mark.anyio


@kind("call")
async def call(payload: dict[str, Any]) -> None:
    """End at once."""


async def test_why_names_the_limit_and_its_next_room(world: LimitedWorld) -> None:
    world.says('[limits.api]\nkind = "call"\nkey = "payload.tenant"\nrate = "100/day"\nburst = 1')
    _, job = await call.enqueue_many(world.conn, [{"tenant": "acme"}] * 2)
    summary = await world.tick(call)
    next_room = "select to_char(look_at, 'YYYY-MM-DD HH24:MI:SS TZ') from crontick.limit_lines"
    assert await world.one("select crontick.why(%s)", job) == (
        f"waits for limit api (100 a day, 1 at once), key acme: next room at {await world.one(next_room)}:"
        " it goes by itself; to let more go, change [limits.api] in crontick.toml"
    )
    assert (summary.more, summary.stop_reason) == (False, "empty")
    assert summary.next_due_at == await world.one("select look_at from crontick.limit_lines")
    await world.later(900)
    assert "there is room, from the next tick on" in await world.one("select crontick.why(%s)", job)


async def test_why_says_that_one_that_runs_has_to_end(world: LimitedWorld) -> None:
    said: list[str] = []

    @kind("call")
    async def asking(payload: dict[str, Any]) -> None:
        said.append(await world.one("select crontick.why(%s)", job))

    world.says('[limits.api]\nkind = "call"\nconcurrency = 1')
    _, job = await asking.enqueue_many(world.conn, [{}] * 2)
    await world.tick(asking)
    assert said[0].startswith("waits for limit api (1 at a time): next room when one that runs has ended:")


async def test_lines_are_listed_and_the_overview_counts_a_limit_once(world: LimitedWorld) -> None:
    world.says('[limits.api]\nkind = "call"\nkey = "payload.tenant"\nrate = "1/day"')
    for tenant, jobs in (("a", 4), ("b", 2), ("c", 1)):
        await call.enqueue_many(world.conn, [{"tenant": tenant}] * jobs)
    await world.tick(call)
    listed = "select name, key, says, waiting, next_room_at > oldest_due_at from crontick.limits order by key"
    assert await world.rows(listed) == [("api", "a", "1 a day", 3, True), ("api", "b", "1 a day", 1, True)]
    assert await world.rows("select held_by, jobs from crontick.overview") == [("limit:api", 4)]


async def test_a_dry_run_lists_what_has_room(world: LimitedWorld) -> None:
    world.says('[limits.api]\nkind = "call"\nrate = "3/day"\n[limits.all]\nqueue = "default"\nconcurrency = 2')
    jobs = await call.enqueue_many(world.conn, [{}] * 5)
    would = (await world.tick(call, dry_run=True)).would_run
    assert [w.job for w in would or ()] == jobs[:3]
    assert (await world.tick(call)).succeeded == 3
    assert (await world.tick(call, dry_run=True)).would_run == []
    await world.later(8 * 3600)
    would = (await world.tick(call, dry_run=True)).would_run
    assert [w.job for w in would or ()] == jobs[3:4]
    assert await world.waiting() == {"api": 2}


async def test_a_tick_stays_for_room_that_comes_within_a_second(world: LimitedWorld) -> None:
    world.says('[limits.api]\nkind = "call"\nrate = "10/second"\nburst = 1')
    await call.enqueue_many(world.conn, [{}] * 4)
    summary = await world.tick(call)
    assert (summary.succeeded, summary.more) == (4, False)


def test_drain_runs_what_has_room_and_the_rest_when_the_clock_says_so(database: str, tmp_path: Path) -> None:
    path = tmp_path / "crontick.toml"
    path.write_text('[limits.api]\nkind = "call"\nrate = "2/second"')
    known = load_deployment(Settings(config_path=path), kinds=[call])
    with psycopg.connect(database) as conn:
        call.enqueue_many(conn, [{}] * 5)
        assert drain(conn, deployment=known).succeeded == 2
        clock(conn).advance(seconds=1)
        assert drain(conn, deployment=known).succeeded == 2
        conn.rollback()
