"""Two small apps whose suites test their kinds with ``crontick.jobs.testing`` alone: run as their authors would."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

APPS = Path(__file__).parents[1] / "apps"


def suite(app: str, server: str, *options: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CRONTICK_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options, str(APPS / app)]
    environ = kept | {"CRONTICK_TEST_DATABASE_URL": server}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environ, cwd=APPS.parents[1])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("app", "tests"), [("fastapi_app", 7), ("django_app", 8)])
def test_its_suite_passes_and_leaves_no_database(server: str, app: str, tests: int) -> None:
    assert f"{tests} passed" in suite(app, server)
    with psycopg.connect(server, autocommit=True) as admin:
        assert admin.execute("select datname from pg_database where datname like 'crontick_test_%'").fetchall() == []


def test_each_worker_of_xdist_has_a_database_of_its_own(server: str) -> None:
    assert "7 passed" in suite("fastapi_app", server, "-n", "2")
