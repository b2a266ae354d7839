"""A deployment's environment in the tests' own process."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.door.serving import TOKEN


@pytest.fixture
def settings(database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[pytest.MonkeyPatch]:
    """A deployment's environment; crontick's loggers are afterwards as they were."""
    monkeypatch.chdir(tmp_path)
    for name, value in (
        ("CRONTICK_DATABASE_URL", database),
        ("CRON_SECRET", TOKEN),
        ("CRONTICK_ENVIRONMENT", "test"),
        ("CRONTICK_MODULES", "tests.cli.acme"),
        ("CRONTICK_KEEP_CONNECTION_SECONDS", "0"),
    ):
        monkeypatch.setenv(name, value)
    yield monkeypatch
    for name in ("crontick", *(f"crontick.{logger}" for logger in ("tick", "run"))):
        logging.getLogger(name).filters.clear()
