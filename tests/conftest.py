"""A real PostgreSQL for every test: one server a worker, one fresh database a test."""

import os
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from crontick.sql.embedded import FAST, postgres
from crontick.sql.migrate import migrate

BINDIR = os.environ.get("CRONTICK_TEST_BINDIR")
"""Where the programs of another PostgreSQL are, for a run on that version."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of this worker's server, as a superuser."""
    with postgres(settings={**FAST, "max_connections": "200"}, bindir=BINDIR) as url:
        yield url


@pytest.fixture(scope="session")
def _template(server: str) -> Iterator[str]:
    with made_database(server) as url:
        migrate(url, environment="test", test_clock=True)
        yield url


@pytest.fixture
def database(server: str, _template: str) -> Iterator[str]:
    """A migrated database of this test's own, whose clock can be set."""
    with made_database(server, template=database_name(_template)) as url:
        yield url


@pytest.fixture
def raw_database(server: str) -> Iterator[str]:
    """An empty database of this test's own."""
    with made_database(server) as url:
        yield url


@pytest.fixture
async def conn(database: str) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """A connection in autocommit mode to ``database``."""
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        yield connection


@pytest.fixture
def sync_conn(database: str) -> Iterator[psycopg.Connection[Any]]:
    """The same, for tests that are not async."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


@contextmanager
def made_database(server: str, *, template: str = "template0") -> Iterator[str]:
    """A new database on the server, dropped with whoever is still in it."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(server, autocommit=True) as admin:
        file_copy = " strategy file_copy" if admin.info.server_version >= 150000 else ""
        admin.execute(f"create database {name} template {template}{file_copy}".encode())
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            admin.execute(f"drop database {name} with (force)".encode())


def database_name(url: str) -> str:
    return urlsplit(url).path.removeprefix("/")
