"""Work that is no attempt is killed half done: reminders that are being enqueued, a migration."""

from pathlib import Path

import psycopg

from crontick.sql.migrate import migrate, pending
from tests.faults.world import World
from tests.worlds.process import Processes
from tests.worlds.waiting import async_until, until

REMINDER = """
[[reminder]]
name = "tomorrow"
kind = "note"
lead = "24h"
query = "select id::text as item, at as item_at, '{}'::jsonb as payload from bookings where at between :from and :to"
"""


async def test_killed_while_reminders_are_enqueued_each_is_enqueued_once(world: World, tmp_path: Path) -> None:
    config = tmp_path / "crontick.toml"
    config.write_text(REMINDER)
    world.settings = {"config_path": str(config)}
    await world.conn.execute(
        "create table bookings as select id, now() + '20 hours' as at from generate_series(1, 9) id"
    )
    async with await psycopg.AsyncConnection.connect(world.url) as holder:
        await holder.execute("lock table crontick.reminder_records in share mode")
        child = world.doomed()
        await async_until(lambda: world.blocked(holder.info.backend_pid))
        child.kill()
    assert await world.value("select count(*) from crontick.jobs") in (0, 9)  # the server may still get to commit
    await world.later("1 minute")
    await world.tick()
    await world.later("10 minutes")
    await world.tick()
    assert await world.value("select count(*) from crontick.jobs") == 9
    assert await world.value("select count(*) from ran") == 9


MIGRATE = "import sys; from crontick.sql.migrate import migrate; migrate(sys.argv[1], environment='test')"


def test_killed_inside_a_migration_the_next_run_heals(raw_database: str, processes: Processes) -> None:
    with psycopg.connect(raw_database) as holder, psycopg.connect(raw_database, autocommit=True) as watcher:
        # Uncommitted, this name keeps the first migration waiting in the middle of its transaction.
        holder.execute("create schema crontick")
        holder.execute("create table crontick.ticks ()")
        child = processes.start(MIGRATE, raw_database)
        blocked = "select exists (select from pg_stat_activity where %s = any(pg_blocking_pids(pid)))"
        until(lambda: watcher.execute(blocked, (holder.info.backend_pid,)).fetchone() == (True,))
        child.kill()
        holder.rollback()
    migrate(raw_database, environment="test")
    assert pending(raw_database) == []


def test_killed_between_two_migrations_the_next_run_goes_on(raw_database: str) -> None:
    migrate(raw_database, environment="test")
    with psycopg.connect(raw_database, autocommit=True) as conn:
        # What a kill after the first half leaves: the last functions and the grants have not run.
        conn.execute("drop function crontick.why; drop view crontick.overview")
        conn.execute("delete from crontick.ledger where name in ('functions/why.sql', 'views/overview.sql')")
    assert migrate(raw_database, environment="test") == ["functions/why.sql", "views/overview.sql"]
