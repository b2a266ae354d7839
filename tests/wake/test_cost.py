"""A tick that leaves nothing to come has asked nobody, and imported none of what asks."""

from pathlib import Path
from typing import Any

import psycopg

from tests.cli.conftest import Command, bare, cli
from tests.wake.conftest import EVENTBRIDGE
from tests.worlds.process import Processes

__all__ = ["bare", "cli"]

IDLE = """
import asyncio, sys
from crontick.jobs.process import process_jobs
print(asyncio.run(process_jobs()).wake_at)
print([name for name in sys.modules if name in ("botocore", "httpx", "crontick.jobs.aws_client")])
"""


def test_an_idle_tick_imports_no_botocore(
    database: str, sync_conn: psycopg.Connection[Any], processes: Processes, tmp_path: Path
) -> None:
    sync_conn.execute("update crontick.installation set environment = 'staging'")
    (tmp_path / "crontick.toml").write_text(EVENTBRIDGE)
    child = processes.start(
        IDLE,
        env={
            "CRONTICK_DATABASE_URL": database,
            "CRONTICK_ENVIRONMENT": "staging",
            "CRONTICK_CONFIG": str(tmp_path / "crontick.toml"),
        },
    )
    assert (child.line(), child.line()) == ("None", "[]")


def test_status_tells_of_the_next_wake(cli: Command, sync_conn: psycopg.Connection[Any]) -> None:
    sync_conn.execute(
        "insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, trigger, wake_at)"
        " select n, now(), now(), now(), now(), 'wake', now() + n * interval '1 hour' from generate_series(-1, 2) as n"
    )
    soonest = sync_conn.execute("select min(wake_at) from crontick.ticks where wake_at > now()").fetchone()
    assert soonest is not None
    assert cli("status", "--json").json["wake_at"][:16] == soonest[0].isoformat()[:16]
    assert f"an alarm is set for {soonest[0].isoformat()[:16]}" in cli("status").out
