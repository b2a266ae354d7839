"""What a tick says to its database, word for word: nothing pins a pooler's connection or outlives a transaction."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg
import pytest

from crontick.jobs import Context, kind
from crontick.jobs.kind import Kind
from tests.conftest import database_name
from tests.engine.conftest import World
from tests.engine.test_reminders import book, bookings, noting

__all__ = ["bookings"]
pytestmark = pytest.mark.anyio
BEGINS = r"(?:\A|;|\bbegin\b|\bthen\b|\belse\b|\bloop\b)\s*"
LASTING = re.compile(
    rf"{BEGINS}(?:(?:deallocate|discard|listen|unlisten|prepare|load|reset|set(?!\s+local))\b|create\s+(\w+\s+)?temp)"
    r"|\bset_config\s*\([^()]*,\s*false\s*\)|\bpg_(try_)?advisory_(lock|unlock)|\bwith\s+hold\b",
    re.IGNORECASE,
)
"""What holds until the session ends."""
SAID = re.compile(r"LOG: +(statement|execute ([^:]*)): ((?:.|\n\t)*)")


OFTEN = 6
"""psycopg prepares what it is asked for the sixth time, unless it is told not to."""


class Listener:
    """Hears what is said to one database, from the log of its server."""

    def __init__(self, url: str) -> None:
        self._log = Path(parse_qs(urlsplit(url).query)["host"][0]) / "log"
        self._from = self._log.stat().st_size

    def heard(self) -> list[tuple[str, str]]:
        """Each statement, with the name under which it was prepared."""
        text = self._log.read_bytes()[self._from :].decode()
        return [(name or "<unnamed>", said) for _, name, said in SAID.findall(text)]


@pytest.fixture
def listener(database: str) -> Listener:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute(f"alter database {database_name(database)} set log_statement = 'all'".encode())
    return Listener(database)


@kind("fails")
async def fails(payload: dict[str, Any]) -> None:
    raise ValueError("as it was told to")


@kind("rolls_back")
async def rolls_back(payload: dict[str, Any], ctx: Context) -> None:
    async with ctx.db() as conn, conn.transaction():
        for _ in range(OFTEN):
            await conn.execute("select 'mine'")
        raise ValueError("after statements of its own")


@kind("rolls_back_in_a_thread")
def rolls_back_in_a_thread(payload: dict[str, Any], ctx: Context) -> None:
    with ctx.db() as conn:
        for _ in range(OFTEN):
            conn.execute("select 'mine'")
        raise ValueError("after statements of its own")


@kind("completes", marker="key")
async def completes(payload: dict[str, Any], ctx: Context) -> None:
    async with ctx.once():
        pass
    async with ctx.db() as conn, conn.transaction():
        await ctx.complete(conn, {"well": True})


KINDS: tuple[Kind[Any], ...] = (fails, rolls_back, rolls_back_in_a_thread, completes)


@pytest.mark.usefixtures("bookings")
@pytest.mark.parametrize("world", ["direct"], indirect=True)  # PgBouncer says things of its own
async def test_no_statement_outlives_its_transaction(world: World, listener: Listener) -> None:
    await book(world, 1, 20)
    world.settings = {"keep_connection_seconds": 60}
    for each in KINDS:
        await each.enqueue(world.conn, {"key": "k"}, group_key="g" if each is fails else None)
    first = await world.tick(*KINDS, noting([]))
    await world.tick(*KINDS, noting([]))
    heard = listener.heard()
    assert (first.claimed, first.failed, first.succeeded) == (5, 3, 2)
    assert any("crontick.open_tick" in said for _, said in heard)
    assert sum("'mine'" in said for _, said in heard) == 2 * OFTEN
    assert [said for _, said in heard if LASTING.search(said)] == []
    assert {name for name, _ in heard} == {"<unnamed>"}, "a prepared statement is the session's"


def test_no_function_of_ours_leaves_anything_in_the_session(sync_conn: psycopg.Connection[Any]) -> None:
    sources = sync_conn.execute(
        "select proname, prosrc from pg_proc where pronamespace = 'crontick'::regnamespace"
    ).fetchall()
    assert len(sources) > 40
    assert [name for name, source in sources if LASTING.search(re.sub(r"--.*", "", source))] == []


@pytest.mark.parametrize(
    "said",
    [
        "DEALLOCATE ALL",
        "discard all",
        "SET statement_timeout = 5",
        "set session characteristics as transaction read only",
        "set search_path to x",
        "select set_config('lock_timeout', '1s', false)",
        "select pg_advisory_lock(1)",
        "select pg_try_advisory_lock(1)",
        "listen jobs",
        "create temporary table t (id int)",
        "PREPARE p as select 1",
    ],
)
def test_these_would_be_found(said: str) -> None:
    assert LASTING.search(said)
