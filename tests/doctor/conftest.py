"""crontick doctor on a server of these tests' own, which has nothing wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.sql.embedded import postgres
from crontick.sql.migrate import migrate
from tests.cli.conftest import Command, bare
from tests.conftest import BINDIR, made_database
from tests.worlds.memory import memory_folder

__all__ = ["Conn", "bare", "said", "wrong"]

SOUND = {
    "max_prepared_transactions": "4",
    "autovacuum_naptime": "5min",
    "full_page_writes": "off",
    "synchronous_commit": "on",
    "wal_level": "replica",
}
Conn = psycopg.Connection[Any]


@pytest.fixture(scope="session")
def sound() -> Iterator[str]:
    """A server that has nothing wrong."""
    with memory_folder() as folder, postgres(folder, settings=SOUND, bindir=BINDIR) as url:
        yield url


@pytest.fixture
def ward(sound: str) -> Iterator[str]:
    """A migrated database on it, for production."""
    with made_database(sound) as url:
        migrate(url)
        yield url


@pytest.fixture
def doctor(ward: str, bare: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """Runs ``crontick doctor`` there, in a folder that has nothing."""
    monkeypatch.setenv("CRONTICK_DATABASE_URL", ward)
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: bare("doctor", *arguments)


@pytest.fixture
def owner(ward: str) -> Iterator[Conn]:
    with psycopg.connect(ward, autocommit=True) as conn:
        yield conn


def wrong(doctor: Command, *arguments: str) -> list[str]:
    """What it says is wrong, each with its mend; whatever else stands there."""
    answer = doctor("--json", *arguments)
    found = [f"{finding['what']}: {finding['mend']}" for finding in answer.json["findings"] if finding["wrong"]]
    assert (answer.status, answer.json["ok"]) == (int(bool(found)), not found)
    return found


def said(doctor: Command, *arguments: str) -> str:
    """What it says beside, each with its mend."""
    findings = doctor("--json", *arguments).json["findings"]
    return "\n".join(f"{finding['what']}: {finding['mend']}" for finding in findings if not finding["wrong"])
