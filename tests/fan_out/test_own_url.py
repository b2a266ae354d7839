"""A real server that calls itself: one call from outside drains what takes several ticks, and each job runs once."""

import urllib.request
from pathlib import Path
from typing import Any

import psycopg

from crontick.handler.loopback import free_port
from tests.fan_out.conftest import TOKEN
from tests.worlds.process import Processes
from tests.worlds.waiting import listens, until

JOBS = 100
ENQUEUE = """
select crontick.enqueue('count', case when n > 20 then '{"seconds": 1}' else '{}' end::jsonb)
from generate_series(1, %s) as n
"""


def test_one_call_drains_what_takes_five_ticks_and_none_ends_because_its_asker_hung_up(
    database: str, sync_conn: psycopg.Connection[Any], processes: Processes, tmp_path: Path
) -> None:
    def one(text: str) -> Any:
        row = sync_conn.execute(text.encode()).fetchone()
        assert row is not None
        return row[0]

    (tmp_path / "crontick.toml").write_text("[fan_out]\n")
    sync_conn.execute("create table effects (job bigint not null)")
    sync_conn.execute(ENQUEUE, (JOBS,))  # the first tick ends, and hangs up, while those that it asked for run
    port = free_port()
    environ = {
        "CRONTICK_DATABASE_URL": database,
        "CRONTICK_ENVIRONMENT": "test",
        "CRONTICK_CONFIG": str(tmp_path / "crontick.toml"),
        "CRONTICK_MODULES": "tests.fan_out.effects",
        "CRONTICK_LIMIT": "20",
        "CRONTICK_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "CRON_SECRET": TOKEN,
    }
    server = processes.run("-m", "uvicorn", "crontick.handler.asgi:app", "--port", str(port), env=environ)
    until(lambda: listens(port) or server.process.poll() is not None, seconds=60)
    request = urllib.request.Request(f"http://127.0.0.1:{port}/cron/tick", method="POST")
    request.add_header("authorization", f"Bearer {TOKEN}")
    with urllib.request.urlopen(request, timeout=60) as answer:
        assert answer.status == 200
    until(lambda: one("select count(*) from crontick.unfinished_jobs") == 0, seconds=60)
    until(lambda: one("select count(*) from crontick.ticks where ended_at is null") == 0, seconds=60)
    until(lambda: one("select count(*) from effects") >= JOBS)
    assert one("select count(distinct job) from effects") == one("select count(*) from effects") == JOBS
    assert one("select count(*) from crontick.ticks where trigger <> 'fan-out'") == 1
    assert one("select count(*) from crontick.ticks where trigger = 'fan-out' and claimed > 0") >= JOBS // 20 - 1
