"""Each test that asks for ``begun`` runs in a transaction of every library."""

from collections.abc import Iterator

import pytest

from tests.enqueue.transactions import LIBRARIES, Transaction, open_transaction


@pytest.fixture(params=LIBRARIES)
def begun(request: pytest.FixtureRequest, database: str) -> Iterator[Transaction]:
    """A transaction of the application's own, that has not said anything yet."""
    with open_transaction(request.param, database) as transaction:
        yield transaction
