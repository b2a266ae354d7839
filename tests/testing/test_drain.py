"""``drain`` runs what is due as a tick does, on the test's connection and inside its open transaction."""

import asyncio
import base64
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import psycopg
import pytest

from crontick.jobs import Context, Reminder, kind, schedule
from crontick.jobs.deployment import load_deployment
from crontick.jobs.settings import Settings
from crontick.jobs.testing import Succeeded, clock, drain, enqueued, run
from crontick.sql.migrate import migrate
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
    for each in (double, double_in_thread, write, write_in_thread, once, once_in_thread, complete):
        await each.enqueue(open_async, Number(21))
    summary = await drain(open_async, kinds=KINDS)
    assert (summary.succeeded, summary.errors) == (7, [])


def test_a_sync_connection_serves_every_sort_of_function(open_conn: psycopg.Connection[Any]) -> None:
    for each in (double, double_in_thread, write, write_in_thread, once, once_in_thread, complete):
        each.enqueue(open_conn, Number(21))
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


def test_a_sync_function_past_its_timeout_fails_and_the_drain_ends(open_conn: psycopg.Connection[Any]) -> None:
    """It runs in the test's own thread, which nobody can stop: the drain waits for it."""
    released = threading.Event()

    @kind("stubborn", timeout=0.05)
    def stubborn(payload: Number) -> None:
        released.wait(1)

    stubborn.enqueue(open_conn, Number())
    summary = drain(open_conn, kinds=[stubborn])
    assert (summary.failed, summary.errors[0].error) == (1, "it did not end within 0.05 s")
    assert open_conn.execute("select 1").fetchone() == (1,)


def test_a_group_goes_on_in_order(open_conn: psycopg.Connection[Any]) -> None:
    seen: list[int] = []

    @kind("in_order")
    async def in_order(payload: Number) -> None:
        seen.append(payload.value)

    for value in range(3):
        in_order.enqueue(open_conn, Number(value), group_key="one")
    assert drain(open_conn, kinds=[in_order]).succeeded == 3
    assert seen == [0, 1, 2]


def test_what_is_sent_once_is_sent_once_in_two_drains(open_conn: psycopg.Connection[Any]) -> None:
    results = []
    for each in (once, once):
        job = each.enqueue(open_conn, Number(1))
        drain(open_conn, kinds=KINDS)
        results.append(open_conn.execute("select result from crontick.jobs where id = %s", (job,)).fetchone())
    assert results == [("first",), ("again",)]


def test_a_reminder_fires_by_the_clock_of_the_test(open_conn: psycopg.Connection[Any]) -> None:
    found = "select 'a $1' as item, now() + interval '30 hours' as item_at, jsonb_build_object('value', 3) as payload"
    soon = Reminder(name="soon", kind="double", lead=timedelta(hours=24), late=timedelta(hours=1), query=found)
    assert drain(open_conn, kinds=[double], reminders=[soon]).reminders == {}
    clock(open_conn).advance(hours=6, minutes=1)
    assert drain(open_conn, kinds=[double], reminders=[soon]).reminders["soon"].fired == 1
    assert drain(open_conn, kinds=[double], reminders=[soon]).reminders == {}


def test_a_schedule_fires_by_the_clock_of_the_test(open_conn: psycopg.Connection[Any]) -> None:
    nightly = schedule("30 2 * * *", payload=Number(21))(double)
    clock(open_conn).set(datetime(2027, 3, 1, tzinfo=UTC))
    assert drain(open_conn, kinds=[nightly]).scheduled == 0
    clock(open_conn).advance(hours=3)
    summary = drain(open_conn, kinds=[nightly])
    assert (summary.scheduled, summary.succeeded) == (1, 1)


def test_the_modules_of_the_process_are_taken_where_nothing_is_passed(
    open_conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_MODULES", "tests.testing.kinds")
    monkeypatch.setenv("CRONTICK_LIMIT", "nonsense")
    monkeypatch.setenv("CRONTICK_ENVIRONMENT", "staging")
    double.enqueue(open_conn, Number(1))
    assert enqueued(open_conn) == [Number(1)]
    assert drain(open_conn).succeeded == 1


def test_a_deployment_is_taken_as_it_is_but_for_its_environment(open_conn: psycopg.Connection[Any]) -> None:
    double.enqueue(open_conn, Number(1))
    deployment = load_deployment(Settings(environment="staging", paused=True), kinds=[double])
    assert drain(open_conn, deployment=deployment).succeeded == 1


def test_a_due_job_of_a_kind_that_nobody_named_is_an_error(open_conn: psycopg.Connection[Any]) -> None:
    double.enqueue(open_conn, Number(1))
    with pytest.raises(RuntimeError, match=r"CRONTICK_MODULES has \(double\).*kinds="):
        drain(open_conn)
    assert open_conn.execute("select count(*) from crontick.ticks").fetchone() == (0,)
    assert drain(open_conn, kinds=[once]).warnings[-1] == "jobs of the kind double are due, and it was not passed"


def test_secret_fields_are_sealed_in_the_database_and_nowhere_else(
    open_conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_ENCRYPTION_KEYS", "one:" + base64.b64encode(b"k" * 32).decode())
    seen: list[int] = []

    @kind("hushed", secret=["value"])
    async def hushed(payload: Number) -> None:
        seen.append(payload.value)

    hushed.enqueue(open_conn, Number(42))
    stored = open_conn.execute("select payload ->> 'value' from crontick.jobs").fetchone()
    assert stored is not None
    assert stored[0].startswith("one:")
    assert enqueued(open_conn, hushed) == [Number(42)]
    assert drain(open_conn, kinds=[hushed]).succeeded == 1
    assert seen == [42]


def test_outside_a_transaction_it_is_refused(sync_conn: psycopg.Connection[Any]) -> None:
    with pytest.raises(RuntimeError, match="no transaction is open"):
        drain(sync_conn, kinds=KINDS)
    with pytest.raises(RuntimeError, match="no transaction is open"):
        clock(sync_conn).advance(hours=1)


def test_in_an_async_test_a_sync_connection_is_refused(open_conn: psycopg.Connection[Any]) -> None:
    async def in_a_loop() -> None:
        drain(open_conn, kinds=KINDS)

    with pytest.raises(RuntimeError, match="an event loop runs in this thread"):
        asyncio.run(in_a_loop())


def test_without_the_schema_the_fixture_is_named(raw_database: str) -> None:
    with psycopg.connect(raw_database) as conn:
        with pytest.raises(RuntimeError, match="crontick_database"):
            drain(conn, kinds=KINDS)
        assert conn.execute("select 1").fetchone() == (1,)


def test_the_database_of_production_is_refused(raw_database: str) -> None:
    migrate(raw_database)
    with psycopg.connect(raw_database) as conn:
        with pytest.raises(RuntimeError, match='"production"'):
            drain(conn, kinds=KINDS)
        with pytest.raises(RuntimeError, match="no test clock"):
            clock(conn).advance(hours=1)
        with pytest.raises(ValueError, match="no time zone"):
            clock(conn).set(datetime(2027, 1, 1))  # noqa: DTZ001 (the case)


def test_what_goes_wrong_in_the_engine_leaves_the_transaction_as_it_was(open_conn: psycopg.Connection[Any]) -> None:
    open_conn.execute("insert into written values (1)")
    double.enqueue(open_conn, Number(1))
    open_conn.execute("update crontick.installation set version = version - 1, oldest_code = oldest_code - 1")
    with pytest.raises(psycopg.Error, match="schema"):
        drain(open_conn, kinds=KINDS)
    assert open_conn.execute("select count(*) from written").fetchone() == (1,)
    assert enqueued(open_conn, double) == [Number(1)]


def test_two_tests_at_once_in_one_database_are_told_to_have_two(
    open_conn: psycopg.Connection[Any], database: str
) -> None:
    """Each holds what it wrote until its rollback, and a statement of a tick does not wait for it."""
    drain(open_conn, kinds=KINDS)
    with psycopg.connect(database) as other:
        with pytest.raises(RuntimeError, match=r"another transaction .* crontick_database"):
            drain(other, kinds=KINDS)
        assert other.execute("select 1").fetchone() == (1,)
        other.rollback()


@contextmanager
def around_in_thread(ctx: Context) -> Iterator[None]:
    """A hook of the plain sort, as Django's connections need."""
    entered_in.append(threading.get_ident())
    yield
    entered_in.append(threading.get_ident())


entered_in: list[int] = []


def test_the_hook_of_the_process_is_entered_where_the_function_runs(
    open_conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_AROUND", "tests.testing.test_drain:around_in_thread")
    monkeypatch.setenv("CRONTICK_MODULES", "tests.testing.kinds")
    monkeypatch.setitem(sys.modules, "tests.testing.test_drain", sys.modules[__name__])
    double_in_thread.enqueue(open_conn, Number(1))
    assert drain(open_conn).succeeded == 1
    assert run(double_in_thread, Number(1)) == Succeeded(f'{{"thread":{threading.get_ident()},"value":2}}')
    assert entered_in == [threading.get_ident()] * 4


def test_what_a_schedule_enqueued_is_seen_as_its_function_will(open_conn: psycopg.Connection[Any]) -> None:
    class Strict(msgspec.Struct, forbid_unknown_fields=True):
        n: int

    @schedule("30 2 * * *", payload=Strict(7))
    @kind("strict")
    async def strict(payload: Strict) -> None:
        """Takes no other field."""

    drain(open_conn, kinds=[strict])
    open_conn.execute("select crontick.run_schedule('strict', 'ann')")
    assert enqueued(open_conn, strict) == [Strict(7)]
