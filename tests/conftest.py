"""A real PostgreSQL for every test: one server a worker, one fresh database a test."""

import os
import uuid
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from crontick.sql.embedded import FAST, postgres
from crontick.sql.migrate import migrate
from tests.worlds import aws_extension as extensions
from tests.worlds import http_receiver as receivers
from tests.worlds import pgbouncer as poolers
from tests.worlds import process
from tests.worlds import proxy as proxies
from tests.worlds import smtp_sink as sinks
from tests.worlds.aws_extension import AwsExtension
from tests.worlds.http_receiver import HttpReceiver
from tests.worlds.memory import memory_folder
from tests.worlds.process import Processes
from tests.worlds.proxy import Proxy
from tests.worlds.smtp_sink import SmtpSink

collect_ignore = ["apps"]
"""Projects of their own, with suites of their own (tests/testing/test_apps.py)."""

BINDIR = os.environ.get("TESTS_POSTGRESQL_BINDIR")
"""Where the programs of another PostgreSQL are, for a run on that version."""
DEBIAN15 = Path("/usr/lib/postgresql/15/bin")


# How long an example takes says how busy the machine is, not whether the code is right.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

NO_SKIPS = os.environ.get("TESTS_NO_SKIPS") == "1"
"""Set in CI, where everything that a test needs is installed."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, where nothing may be (TESTS_NO_SKIPS=1): {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if NO_SKIPS and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"skipped, where nothing may be (TESTS_NO_SKIPS=1): {report.longrepr}"
    return report


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of this worker's server, as a superuser."""
    with started(BINDIR) as url:
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


@pytest.fixture
def proxy(database: str) -> Iterator[Proxy]:
    """A bad network in front of ``database``."""
    with proxies.proxy(database) as bad_network:
        yield bad_network


@pytest.fixture
def smtp_sink() -> Iterator[SmtpSink]:
    with sinks.smtp_sink() as sink:
        yield sink


@pytest.fixture
def http_receiver() -> Iterator[HttpReceiver]:
    with receivers.http_receiver() as receiver:
        yield receiver


@pytest.fixture
def extension() -> Iterator[AwsExtension]:
    with extensions.aws_extension() as made:
        yield made


@pytest.fixture
def processes() -> Iterator[Processes]:
    with process.processes() as children:
        yield children


@pytest.fixture(scope="session")
def _server15() -> Iterator[str]:
    if not DEBIAN15.exists():
        pytest.skip("Debian's PostgreSQL 15 is not here: apt-get install postgresql-15")
    with started(DEBIAN15) as url:
        yield url


@pytest.fixture
def postgresql15(_server15: str) -> Iterator[str]:
    """A migrated database on Debian's PostgreSQL 15."""
    with made_database(_server15) as url:
        migrate(url, environment="test", test_clock=True)
        yield url


@pytest.fixture(scope="session")
def _pooler(server: str) -> Iterator[str]:
    if poolers.PROGRAM is None:
        pytest.skip("PgBouncer is not here: apt-get install pgbouncer")
    with poolers.pgbouncer(server) as url:
        yield url


@pytest.fixture
def pgbouncer(database: str, _pooler: str) -> str:
    """``database``, through PgBouncer in transaction mode."""
    return _pooler.removesuffix("/postgres") + f"/{database_name(database)}"


@contextmanager
def started(bindir: str | Path | None) -> Iterator[str]:
    """A server for many tests."""
    settings = {**FAST, "max_connections": "200", "max_wal_size": "256MB"}
    with memory_folder() as folder, postgres(folder, settings=settings, bindir=bindir) as url:
        yield url


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
