"""Which database one develops on, and which one is never touched."""

import os
import socket
from pathlib import Path

import psycopg
import pytest

from crontick.handler.dev.database import Database, database
from crontick.handler.dev.folder import Folder
from crontick.handler.dev.refused import DevRefused
from crontick.jobs.settings import Settings
from crontick.sql.migrate import environment_of, migrate, pending
from tests.dev.developing import develop
from tests.worlds.process import Processes


def given(url: str, environment: str | None = None, *, migrated: bool = False) -> Database:
    settings = Settings(database_url=url, migrate_url=url)
    with database(settings, Folder(Path("/none"), "token"), environment=environment, migrated=migrated) as found:
        return found


def ledger(url: str) -> set[str]:
    with psycopg.connect(url) as conn:
        return {name for (name,) in conn.execute("select name from crontick.ledger")}


def test_a_new_database_is_migrated_for_dev_with_the_clock_of_life(raw_database: str) -> None:
    found = given(raw_database)
    assert (found.environment, found.embedded, environment_of(raw_database)) == ("dev", False, "dev")
    assert "clocks/test.sql" not in ledger(raw_database)


@pytest.mark.parametrize("environment", [None, "production", "dev"])
@pytest.mark.parametrize("migrated", [False, True])
def test_a_production_is_refused_whatever_is_asked(
    raw_database: str, environment: str | None, *, migrated: bool
) -> None:
    migrate(raw_database, environment="production")
    with pytest.raises(DevRefused, match="send its mails into a sink"):
        given(raw_database, environment, migrated=migrated)
    assert environment_of(raw_database) == "production"
    assert "clocks/test.sql" not in ledger(raw_database)


def test_a_new_database_is_not_made_a_production_by_developing(raw_database: str) -> None:
    with pytest.raises(DevRefused, match="CRONTICK_ENVIRONMENT says"):
        given(raw_database, "production")
    assert environment_of(raw_database) is None


def test_another_environment_is_taken_only_by_its_name(raw_database: str) -> None:
    migrate(raw_database, environment="staging")
    with pytest.raises(DevRefused, match="set CRONTICK_ENVIRONMENT=staging"):
        given(raw_database)
    assert given(raw_database, "staging").environment == "staging"


def test_a_known_database_is_migrated_when_that_is_asked(raw_database: str) -> None:
    migrate(raw_database, environment="dev")
    with psycopg.connect(raw_database, autocommit=True) as conn:
        conn.execute("update crontick.ledger set sha256 = 'older' where name = 'functions/why.sql'")
    given(raw_database)
    assert [step.name for step in pending(raw_database)] == ["functions/why.sql"]
    given(raw_database, migrated=True)
    assert pending(raw_database) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs its server as somebody else")
def test_root_keeps_the_data_where_its_server_can_reach_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/tmp/some-cache")
    tmp_path.chmod(0o700)
    closed = Folder(tmp_path, "token").data_path
    assert closed.parts[:4] == ("/", "tmp", "some-cache", "crontick")
    assert closed != Folder(tmp_path / "..", "token").data_path
    assert Folder(Path("/tmp"), "token").data_path == Path("/tmp/postgres")


def test_data_that_do_not_fit_are_named_with_what_to_do(project: Path) -> None:
    data = project / "postgres"
    data.mkdir()
    (data / "PG_VERSION").write_text("9.6\n")
    with pytest.raises(DevRefused, match=rf"(?s)did not start.*delete {data} to begin anew"):
        database(Settings(), Folder(project, "token"), environment=None, migrated=False).__enter__()


def test_a_database_that_was_given_is_used_and_its_production_refused(
    processes: Processes, project: Path, raw_database: str
) -> None:
    dev = develop(processes, project, env={"DATABASE_URL": raw_database})
    assert dev.told("dev", "environment dev")["embedded"] is False
    dev.told("dev", "in another terminal")
    dev.command("enqueue", "hello", '{"name": "Ada"}')
    dev.told("mail", "Hello Ada")
    dev.end()
    assert not (project / ".crontick" / "postgres").exists()
    with psycopg.connect(raw_database, autocommit=True) as conn:
        conn.execute("update crontick.installation set environment = 'production'")
    again = develop(processes, project, env={"CRONTICK_DATABASE_URL": raw_database})
    assert again.child.wait() == 1
    assert "the database is a production's" in again.child.errors


def test_a_port_that_somebody_has_is_named(processes: Processes, project: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        dev = develop(processes, project, "--port", port)
        assert dev.child.wait() == 1
        assert f"127.0.0.1:{port} cannot be listened on" in dev.child.errors
