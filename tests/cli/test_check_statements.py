"""``crontick check`` lets the database read each statement of the configuration."""

from pathlib import Path
from typing import Any

import psycopg
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
        '! crontick.toml:8: sql_job.statement: misspelt: syntax error at or near "delet"',
        '! crontick.toml:11: sql_job.statement: lost: relation "carts" does not exist',
        "! crontick.toml:15: sql_job.statement: two: cannot insert multiple commands into a prepared statement",
    ]


def test_offline_nobody_is_asked(cli: Command, config: Path) -> None:
    config.write_text(JOBS)
    assert cli("check", "--offline").status == 0


NAMES = """
[[report]]
name = "activity"
query = "select 1 as id"
key = "id"
[[schedule]]
name = "nightly"
cron = "0 2 * * *"
kind = "generate_report"
payload = { report = "activty" }
[[schedule]]
name = "event"
cron = "0 2 * * *"
kind = "deliver_webhook"
payload = { endpoint = "crmm", body = 1 }
[[schedule]]
name = "known"
cron = "0 2 * * *"
kind = "deliver_webhook"
payload = { endpoint = "crm", body = 1 }
[[reminder]]
name = "soon"
lead = "1h"
kind = "run_sql"
query = '''select 1 as item, crontick.now() + interval '30 minutes' as item_at, '{"job": "purge"}'::jsonb as payload'''
[[reminder]]
name = "broken"
lead = "1h"
kind = "run_sql"
query = "select 1 as item, item_at from bookings"
"""


def test_what_a_payload_names_is_there(cli: Command, config: Path, sync_conn: psycopg.Connection[Any]) -> None:
    config.write_text(NAMES)
    sync_conn.execute("select crontick.set_endpoint('crm', 'https://crm.example/')")
    answer = cli("check")
    assert answer.status == 1
    assert [line for line in answer.out.splitlines() if line.startswith("! crontick.toml")] == [
        "! crontick.toml:15: schedule.payload: there is no endpoint crmm (did you mean crm?)",
        "! crontick.toml:10: schedule.payload: there is no [[report]] activty (did you mean activity?)",
        '! crontick.toml:30: reminder.query: relation "bookings" does not exist (42P01)',
        "! crontick.toml:25: reminder.query: there is no [[sql_job]] purge: declare it, or mend the name",
    ]
