"""The world of the fault tests."""

from typing import Any

import psycopg
import pytest

from tests.faults.world import World
from tests.worlds.process import Processes


@pytest.fixture
async def world(database: str, conn: psycopg.AsyncConnection[Any], processes: Processes) -> World:
    await conn.execute("create table ran (job bigint not null, attempt int not null)")
    return World(database, conn, processes)
