"""The example apps take orders, and do and end their jobs in transactions of their own, whatever dies."""

import asyncio
import json
import re
import shutil
import subprocess
import time
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from standardwebhooks import Webhook

from crontick.jobs.deployment import Deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.examples.apps import EXAMPLES, debians_driver
from tests.examples.conftest import NEW, OLD, Example
from tests.worlds.waiting import async_until

Connection = psycopg.Connection[Any]
ORDER = {"id": 7, "email": "ada@users.example"}


def jobs(conn: Connection) -> list[tuple[Any, ...]]:
    return conn.execute("select kind, status, result from crontick.jobs order by id").fetchall()


def thanked(conn: Connection) -> list[tuple[Any, ...]]:
    return conn.execute("select id, thanked from orders").fetchall()


def test_the_go_app_asks_for_the_driver_that_it_is_tested_with() -> None:
    if not debians_driver().exists() or shutil.which("dpkg-query") is None:
        pytest.skip("the driver is not here: apt-get install golang-github-lib-pq-dev")
    asked = ["dpkg-query", "--show", "--showformat=${Version}", "golang-github-lib-pq-dev"]
    version = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.partition("-")[0]
    for file in ("go.mod", "go.sum"):
        assert set(re.findall(r"lib/pq v([0-9.]+)", (EXAMPLES / "go" / file).read_text())) == {version}


async def test_an_order_is_thanked_for_once(example: Example, deployed: Deployment, sync_conn: Connection) -> None:
    status, said = example.post("/orders", ORDER)
    assert status == 201
    assert int(said["job"]) == 1
    summary = await run_tick(deployed, TickRequest())
    assert (summary.succeeded, summary.lost) == (1, 0)
    assert jobs(sync_conn) == [("thank", "succeeded", {"thanked": ORDER["email"]})]
    assert thanked(sync_conn) == [(7, 1)]


async def test_an_order_that_is_refused_enqueues_nothing(example: Example, sync_conn: Connection) -> None:
    assert example.post("/orders", ORDER)[0] == 201
    assert example.post("/orders", ORDER)[0] == 500
    assert len(jobs(sync_conn)) == 1


async def test_an_app_that_was_down_is_asked_again(
    example: Example, deployed: Deployment, sync_conn: Connection
) -> None:
    example.post("/orders", ORDER)
    example.die()
    assert (await run_tick(deployed, TickRequest())).failed == 1
    example.start()
    sync_conn.execute("select crontick.run_now(1, 'ada', 'it is back')")
    assert (await run_tick(deployed, TickRequest())).succeeded == 1
    assert thanked(sync_conn) == [(7, 1)]


async def test_a_job_whose_order_is_gone_is_cancelled(
    example: Example, deployed: Deployment, sync_conn: Connection
) -> None:
    sync_conn.execute("""select crontick.enqueue('thank', '{"order": 8}')""")
    assert (await run_tick(deployed, TickRequest())).cancelled == 1


async def test_an_app_that_dies_in_its_transaction_has_done_nothing(
    example: Example, deployed: Deployment, sync_conn: Connection
) -> None:
    example.post("/orders", ORDER)
    with sync_conn.transaction():
        sync_conn.execute("select from orders for update")
        ticking = asyncio.ensure_future(run_tick(deployed, TickRequest()))
        await async_until(lambda: waited_for(sync_conn))
        example.die()
        assert (await ticking).failed == 1
    example.start()
    sync_conn.execute("select crontick.run_now(1, 'ada', 'it is back')")
    assert (await run_tick(deployed, TickRequest())).succeeded == 1
    assert thanked(sync_conn) == [(7, 1)]


def waited_for(conn: Connection) -> bool:
    """Whether the app waits for a row that this connection has."""
    asked = "select exists (select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid)))"
    return bool(conn.execute(asked).fetchall()[0][0])


CALL = {"id": 1, "claim": "4611686018427387904", "payload": {"order": 7}}


@pytest.mark.parametrize("secret", [OLD, NEW])
async def test_a_claim_that_is_over_changes_nothing(example: Example, sync_conn: Connection, secret: str) -> None:
    example.post("/orders", ORDER)
    status, said = example.post("/jobs/thank", CALL, signed(secret))
    assert (status, "the claim of job 1 is not current" in said["error"]) == (500, True)
    assert thanked(sync_conn) == [(7, 0)]


async def test_what_is_not_signed_or_is_old_runs_nothing(example: Example) -> None:
    by_nobody = {"webhook-id": "job-1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
    by_a_stranger = signed("whsec_" + "B" * 43 + "=")
    an_hour_ago = signed(NEW, age_seconds=3600)
    for headers in ({}, by_nobody, by_a_stranger, an_hour_ago, {**signed(NEW), "webhook-id": "job-2"}):
        assert example.post("/jobs/thank", CALL, headers)[0] == 401


def signed(secret: str, age_seconds: int = 0) -> dict[str, str]:
    """The headers of that call."""
    at = int(time.time()) - age_seconds
    signature = Webhook(secret).sign("job-1", datetime.fromtimestamp(at, UTC), json.dumps(CALL))
    return {"webhook-id": "job-1", "webhook-timestamp": str(at), "webhook-signature": signature}
