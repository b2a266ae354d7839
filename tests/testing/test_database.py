"""The fixture ``crontick_database``: there after installation, a database of the run's own, gone after it."""

import os
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from crontick.jobs.testing.database import fresh_database

SUITE = """
import psycopg

def test_it(crontick_database):
    with psycopg.connect(crontick_database) as conn:
        print("in", conn.info.dbname, conn.execute("select environment from crontick.installation").fetchone()[0])
        assert conn.execute("select count(*) from crontick.test_clock").fetchone() == (1,)
"""
LOADED = "import sys, crontick.handler.pytest_plugin; print(*sys.modules)"


def suite(folder: Path, **environ: str) -> str:
    (folder / "test_it.py").write_text(SUITE)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-s",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
        str(folder),
    ]
    kept = {name: value for name, value in os.environ.items() if "DATABASE_URL" not in name}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=kept | environ, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def databases(server: str) -> set[str]:
    with psycopg.connect(server, autocommit=True) as admin:
        return {
            name for (name,) in admin.execute("select datname from pg_database where datname like 'crontick_test_%'")
        }


@pytest.mark.parametrize("name", ["CRONTICK_TEST_DATABASE_URL", "CRONTICK_DATABASE_URL", "DATABASE_URL"])
def test_it_is_made_on_the_server_of_a_variable_and_dropped(server: str, tmp_path: Path, name: str) -> None:
    told = suite(tmp_path, **{name: server.replace("postgresql://", "postgresql+psycopg://")})
    assert "in crontick_test_" in told
    assert " test\n" in told
    assert databases(server) == set()


def test_without_a_variable_it_is_embedded(tmp_path: Path) -> None:
    assert "in crontick_test_" in suite(tmp_path)


def test_what_the_variable_names_is_not_touched(raw_database: str) -> None:
    with fresh_database({"DATABASE_URL": raw_database}) as url:
        assert urlsplit(url).path.startswith("/crontick_test_")
    with psycopg.connect(raw_database) as conn:
        assert conn.execute("select to_regnamespace('crontick')").fetchone() == (None,)


def test_a_key_value_string_becomes_a_url(raw_database: str) -> None:
    """Made for a password with every character that a URL must not hold."""
    told = make_conninfo(raw_database, password="p@ss/w?rd")
    with fresh_database({"CRONTICK_TEST_DATABASE_URL": told}) as url:
        assert url.startswith("postgresql://postgres:p%40ss%2Fw%3Frd@/crontick_test_")
        assert conninfo_to_dict(url)["password"] == "p@ss/w?rd"


def test_a_role_that_may_not_is_told_what_to_do(server: str) -> None:
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute("drop role if exists poor")
        admin.execute("create role poor login")
    poor = make_conninfo(server, user="poor")
    with pytest.raises(RuntimeError, match=r"the role poor may not .* createdb"):
        with fresh_database({"DATABASE_URL": poor}):
            pass


def test_the_plugin_loads_nothing_before_it_is_used() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], check=True, capture_output=True, text=True)
    assert {"psycopg", "httpx", "msgspec", "crontick.jobs", "crontick.sql"} & set(done.stdout.split()) == set()
