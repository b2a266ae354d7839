"""``crontick check`` lets the database read each statement of the configuration."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command

JOBS = """
[[sql_job]]
name = "good"
statement = "delete from crontick.test_clock where ahead = :ahead"
parameters = { ahead = "interval" }
[[sql_job]]
name = "misspelt"
statement = "delet from carts"
[[sql_job]]
name = "lost"
statement = "delete from carts where id = :id"
parameters = { id = "integer" }
[[sql_job]]
name = "two"
statement = "select 1; select 2"
timeout = "1m"
"""


@pytest.fixture
def config(cli: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    path = tmp_path / "crontick.toml"
    monkeypatch.setenv("CRONTICK_CONFIG", str(path))
    return path


def test_a_statement_that_cannot_run_is_told_in_the_databases_words(cli: Command, config: Path) -> None:
    config.write_text(JOBS)
    answer = cli("check")
    assert answer.status == 1
    assert [line for line in answer.out.splitlines() if "sql_job" in line] == [
        "! sql_job two may take 60 s, and run_sql is cut after 20 s: raise timeout in [kinds.run_sql]",
        '! sql_job misspelt cannot run: syntax error at or near "delet"',
        '! sql_job lost cannot run: relation "carts" does not exist',
        "! sql_job two cannot run: cannot insert multiple commands into a prepared statement",
    ]


def test_offline_nobody_is_asked(cli: Command, config: Path) -> None:
    config.write_text(JOBS)
    assert cli("check", "--offline").status == 0
