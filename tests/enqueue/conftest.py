"""A transaction of every library, and a project made of the documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.enqueue.documents import write
from tests.enqueue.project import Project
from tests.enqueue.transactions import LIBRARIES, Transaction, open_transaction
from tests.worlds.process import Processes


@pytest.fixture(params=LIBRARIES)
def begun(request: pytest.FixtureRequest, database: str) -> Iterator[Transaction]:
    """A transaction of the application's own, that has not said anything yet."""
    with open_transaction(request.param, database) as transaction:
        yield transaction


@pytest.fixture
def orders(sync_conn: psycopg.Connection[Any]) -> psycopg.Connection[Any]:
    """The application's own table."""
    sync_conn.execute("create table orders (id int primary key, receipt_sent boolean not null default false)")
    return sync_conn


@pytest.fixture
def project(tmp_path: Path, database: str, processes: Processes) -> Project:
    made = Project(tmp_path, database, processes)
    write(tmp_path, "With your framework")
    return made
