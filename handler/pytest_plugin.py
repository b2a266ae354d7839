"""The door of pytest: a fixture that is there after installation, and loads nothing until a test asks for it."""

from collections.abc import Iterator

import pytest

__all__ = ["crontick_database"]


@pytest.fixture(scope="session")
def crontick_database() -> Iterator[str]:
    """The URL of a database of this run's own: migrated, with the test clock, environment ``test``; dropped afterwards.

    On the server of ``CRONTICK_TEST_DATABASE_URL`` (else ``CRONTICK_DATABASE_URL``, ``DATABASE_URL``), where the role
    must be allowed to create databases; without one on an embedded PostgreSQL. Each worker of pytest-xdist has its own.
    """
    from crontick.jobs.testing.database import fresh_database

    with fresh_database() as url:
        yield url
