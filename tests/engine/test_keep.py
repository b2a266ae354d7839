"""A connection outlives its tick only while the next is expected soon: a frozen one keeps a database awake."""

import pytest

from crontick.jobs.keep import Keeper
from crontick.jobs.link import Link
from crontick.sql import query
from crontick.sql.wire import statement
from tests.worlds.waiting import async_until

WITHIN_SECONDS = 60


@pytest.fixture
async def keeper(database: str) -> Keeper:
    """Before its second tick within a minute."""
    keeper = Keeper()
    await keeper.keep(database, await asked(database), WITHIN_SECONDS)
    assert keeper.take(database) is None
    return keeper


async def asked(url: str) -> Link:
    """A link that has a connection."""
    link = Link(url, lambda: 10.0)
    await link.tell([[statement(query("bound_segment"), {"statement_timeout_ms": "1000"})]])
    return link


async def test_the_connection_of_the_second_of_two_ticks_serves_the_third(database: str, keeper: Keeper) -> None:
    link = await asked(database)
    await keeper.keep(database, link, WITHIN_SECONDS)
    assert link.take() is None
    conn = keeper.take(database)
    assert conn is not None
    await conn.close()


async def test_after_a_long_freeze_none_is_kept(database: str, keeper: Keeper) -> None:
    assert keeper._last_tick_at is not None
    keeper._last_tick_at -= WITHIN_SECONDS + 1
    await keeper.keep(database, await asked(database), WITHIN_SECONDS)
    assert keeper.take(database) is None


async def test_one_that_was_kept_for_longer_is_not_trusted(database: str, keeper: Keeper) -> None:
    await keeper.keep(database, await asked(database), WITHIN_SECONDS)
    assert keeper._kept is not None
    conn = keeper._kept[2]
    keeper._until -= WITHIN_SECONDS + 1
    assert keeper.take(database) is None
    await async_until(lambda: conn.closed)
