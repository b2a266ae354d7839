"""The world of the Lambda tests."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.on_lambda.world import World
from tests.worlds import runtime_api as apis
from tests.worlds.process import Processes
from tests.worlds.runtime_api import RuntimeApi


@pytest.fixture
def runtime_api() -> Iterator[RuntimeApi]:
    with apis.runtime_api() as api:
        yield api


@pytest.fixture
def world(database: str, sync_conn: psycopg.Connection[Any], processes: Processes, runtime_api: RuntimeApi) -> World:
    sync_conn.execute("create table ran (job bigint not null, attempt int not null)")
    return World(database, sync_conn, runtime_api, processes)
