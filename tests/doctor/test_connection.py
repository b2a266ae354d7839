"""The way to the database: a slow one, a pooler, a replica, an old server, none at all, one of another environment."""

import tempfile
from pathlib import Path

import psycopg
import pytest

from crontick.handler.doctor.connection import way_found
from crontick.sql.embedded import postgres
from crontick.sql.migrate import migrate
from tests.cli.conftest import Command
from tests.conftest import BINDIR
from tests.doctor.conftest import Conn, said, wrong
from tests.worlds.proxy import Proxy


@pytest.fixture
def test_doctor(bare: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Command:
    """The doctor of a deployment in the environment ``test``, whose database the test names."""
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", "test")
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: bare("doctor", *arguments)


def test_the_way_is_told_with_what_an_idle_tick_waits(doctor: Command, ward: str) -> None:
    with psycopg.connect(ward) as conn:
        version = conn.info.server_version
    told = said(doctor)
    assert f"PostgreSQL {version // 10000}.{version % 10000}, " in told
    assert "a round trip takes" in told
    assert "through a pooler" not in told


def test_a_database_far_away(test_doctor: Command, proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    proxy.latency_seconds = 0.06  # in either direction
    monkeypatch.setenv("CRONTICK_DATABASE_URL", proxy.url)
    found = [sentence for sentence in wrong(test_doctor) if "a round trip takes" in sentence]
    assert len(found) == 1
    assert found[0].endswith("run ticks in the region of the database")


def test_a_pooler_is_told_and_refused_for_migrations_alone(
    test_doctor: Command, pgbouncer: str, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_DATABASE_URL", pgbouncer)
    [sentence] = [one for one in wrong(test_doctor) if "pooler" in one]
    assert sentence.startswith("for `crontick migrate`, this URL leads through a pooler in transaction mode")
    assert "set CRONTICK_MIGRATE_URL" in sentence
    assert "through a pooler" in said(test_doctor)
    monkeypatch.setenv("CRONTICK_MIGRATE_URL", database)
    assert [one for one in wrong(test_doctor) if "pooler" in one] == []
    monkeypatch.setenv("CRONTICK_MIGRATE_URL", "postgresql://127.0.0.1:1/x")
    assert "CRONTICK_MIGRATE_URL cannot be reached from here" in said(test_doctor)


def test_a_read_replica(bare: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with tempfile.TemporaryDirectory(prefix="replica-", dir="/tmp") as parent:
        Path(parent).chmod(0o755)  # the server runs as another user
        folder = Path(parent) / "data"
        with postgres(folder, bindir=BINDIR) as url:
            migrate(url)
        (folder / "standby.signal").touch()
        with postgres(folder, bindir=BINDIR, settings={"hot_standby": "on"}) as replica:
            monkeypatch.setenv("CRONTICK_DATABASE_URL", replica)
            found = wrong(lambda *arguments: bare("doctor", *arguments))
    assert [sentence for sentence in found if sentence.startswith("this server is a read replica")]


def test_a_database_that_is_read_only(doctor: Command, owner: Conn) -> None:
    owner.execute(f"alter database {owner.info.dbname} set default_transaction_read_only = on".encode())
    [sentence] = wrong(doctor)
    assert sentence.startswith("transactions are read-only here: take away default_transaction_read_only")


@pytest.mark.parametrize(("version", "found"), [(130022, ["13.22"]), (140000, []), (180006, [])])
def test_a_postgresql_that_is_too_old(version: int, found: list[str]) -> None:
    told = list(way_found(version, {"in_recovery": False, "read_only": False}))
    assert [finding.what for finding in told] == [f"the server is PostgreSQL {one}" for one in found]


def test_a_database_out_of_reach_is_a_finding(doctor: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRONTICK_DATABASE_URL", "postgresql://app:hunter2@127.0.0.1:1/app")
    [sentence] = wrong(doctor)
    assert sentence.startswith("the database is out of reach, or waking: 127.0.0.1, port 1: is it up")
    assert "hunter2" not in doctor().out


def test_a_database_that_was_never_migrated(
    test_doctor: Command, raw_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_DATABASE_URL", raw_database)
    assert "this database has no environment yet: run `crontick migrate`" in wrong(test_doctor)


def test_a_schema_that_is_older_than_the_code(doctor: Command, owner: Conn) -> None:
    owner.execute("update crontick.installation set version = version - 1")
    [sentence] = wrong(doctor)
    assert sentence.startswith("this code needs schema ")
    assert sentence.endswith(": run `crontick migrate`")


def test_another_environment_is_told_and_the_database_is_looked_at_all_the_same(
    doctor: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", "staging")
    [sentence] = wrong(doctor)
    assert sentence.startswith('this database belongs to the environment "production", not to "staging"')
    assert "these roles are not there" in said(doctor)
