"""Open transactions, which nobody commits."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import psycopg
import pytest

from tests.enqueue.transactions import LIBRARIES, Transaction, open_transaction

TABLE = "create table written (value int)"


@pytest.fixture(params=LIBRARIES)
def begun(request: pytest.FixtureRequest, database: str) -> Iterator[Transaction]:
    """A transaction of each library, in which there is a table."""
    with open_transaction(request.param, database) as transaction:
        transaction.wait(transaction.run(TABLE))
        yield transaction


@pytest.fixture
def open_conn(database: str) -> Iterator[psycopg.Connection[Any]]:
    """One of psycopg's."""
    with psycopg.connect(database) as conn:
        conn.execute(TABLE)
        yield conn
        conn.rollback()


@pytest.fixture
async def open_async(database: str) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """The same, async."""
    async with await psycopg.AsyncConnection.connect(database) as conn:
        await conn.execute(TABLE)
        yield conn
        await conn.rollback()
