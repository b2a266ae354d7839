"""``drain`` runs what is due as a tick does, on the test's connection and inside its open transaction."""

from typing import Any

import psycopg

from crontick.jobs.testing import clock, drain, enqueued
from tests.testing.kinds import (
    Number,
    complete,
    double,
    double_in_thread,
    once,
    once_in_thread,
    parent,
    sleep,
    steer,
    write,
    write_in_thread,
)

KINDS = (double, double_in_thread, steer, write, write_in_thread, sleep, parent, once, once_in_thread, complete)


def status(conn: psycopg.Connection[Any], job: int) -> str:
    row = conn.execute("select status from crontick.jobs where id = %s", (job,)).fetchone()
    assert row is not None
    return str(row[0])


def test_a_due_job_runs_and_succeeds(open_conn: psycopg.Connection[Any]) -> None:
    job = double.enqueue(open_conn, Number(21))
    summary = drain(open_conn, kinds=KINDS)
    assert (summary.claimed, summary.succeeded, summary.errors) == (1, 1, [])
    assert open_conn.execute("select result from crontick.jobs where id = %s", (job,)).fetchone() == (42,)


async def test_an_async_connection_is_drained_in_the_loop_of_the_test(
    open_async: psycopg.AsyncConnection[Any],
) -> None:
    for kind in (double, double_in_thread, write, write_in_thread, once, once_in_thread, complete):
        await kind.enqueue(open_async, Number(21))
    summary = await drain(open_async, kinds=KINDS)
    assert (summary.succeeded, summary.errors) == (7, [])


def test_a_sync_connection_serves_every_sort_of_function(open_conn: psycopg.Connection[Any]) -> None:
    for kind in (double, double_in_thread, write, write_in_thread, once, once_in_thread, complete):
        kind.enqueue(open_conn, Number(21))
    summary = drain(open_conn, kinds=KINDS)
    assert (summary.succeeded, summary.errors) == (7, [])
    assert open_conn.execute("select count(*) from written").fetchone() == (3,)


def test_a_failed_job_waits_for_its_time(open_conn: psycopg.Connection[Any]) -> None:
    job = steer.enqueue(open_conn, "error")
    assert drain(open_conn, kinds=KINDS).failed == 1
    assert drain(open_conn, kinds=KINDS).claimed == 0
    clock(open_conn).advance(minutes=2)
    assert drain(open_conn, kinds=KINDS).dead == 1
    assert status(open_conn, job) == "dead"


def test_children_run_in_the_same_drain(open_conn: psycopg.Connection[Any]) -> None:
    parent.enqueue(open_conn, Number(4))
    assert enqueued(open_conn, parent) == [Number(4)]
    assert drain(open_conn, kinds=KINDS).succeeded == 2
    assert enqueued(open_conn) == []
