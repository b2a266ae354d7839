"""The next due time is known of whatever a tick would do something for, and of nothing that is kept from it (P42)."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs import kind
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio
LIMITED = '[limits.slowly]\nkind = "note"\nrate = "1/minute"\n'


@kind("note", queue="notes")
async def note(_: dict[str, Any]) -> None: ...


@pytest.fixture
def world(database: str, conn: psycopg.AsyncConnection[Any]) -> World:
    return World(database, conn)


async def now(world: World) -> datetime:
    return datetime.fromisoformat(await world.one("select to_json(crontick.now()) #>> '{}'"))


async def test_a_follower_that_nobody_placed_is_due(world: World) -> None:
    for _ in range(2):
        await world.rows("select crontick.enqueue('note', group_key => 'g')")
    summary = await world.tick(note, limit=1)
    assert summary.succeeded == 1
    assert summary.next_due_at is not None
    assert summary.next_due_at <= await now(world)
    assert (await world.tick(note)).succeeded == 1
    assert (await world.tick(note)).next_due_at is None


async def test_what_is_paused_wakes_nobody(world: World, tmp_path: Path) -> None:
    (tmp_path / "crontick.toml").write_text(LIMITED)
    world.settings["config_path"] = tmp_path / "crontick.toml"
    for _ in range(2):
        await world.rows("select crontick.enqueue('note')")
    limited = await world.tick(note)
    assert limited.next_due_at is not None
    await world.rows("select crontick.pause('queue', 'notes', 'a test')")
    await world.later(timedelta(minutes=5).total_seconds())
    summaries = [await world.tick(note) for _ in range(3)]
    assert [(s.more, s.next_due_at) for s in summaries] == [(False, None)] * 3
