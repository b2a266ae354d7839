"""``drain``, ``enqueued`` and ``clock`` on whatever ``enqueue`` takes, inside the transaction that is open there."""

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from crontick.jobs import Kind, Summary, kind
from crontick.jobs.on_connection import is_async
from crontick.jobs.testing import clock, drain, enqueued
from tests.enqueue.transactions import Transaction
from tests.testing.kinds import (
    Number,
    Price,
    complete,
    double,
    double_in_thread,
    echo,
    grouped,
    once,
    once_in_thread,
    steer,
    write,
    write_in_thread,
)

AT = datetime(2027, 3, 1, 12, tzinfo=UTC)
KINDS = (complete, double, double_in_thread, echo, grouped, once, once_in_thread, steer, write, write_in_thread)


def drained(begun: Transaction, *more: Kind[Any], limit: int = 100) -> Summary:
    summary = begun.wait(drain(begun.conn, limit, kinds=(*KINDS, *more)))
    assert isinstance(summary, Summary)
    return summary


def counted(begun: Transaction, text: str) -> int:
    """A count, on whatever it is that runs a statement."""
    found = begun.one(text)
    if isinstance(found, int):
        return found
    if isinstance(found, tuple):
        return int(found[0])
    row = begun.wait(found.fetchone())
    return int(row[0])


def dividing_by_zero(begun: Transaction) -> Kind[Any]:
    """Its function uses what the application has open, and leaves it broken."""
    if is_async(begun.conn):

        @kind("broken")
        async def broken(payload: Number) -> None:
            await begun.run(f"select {payload.value} / 0")

        return broken

    @kind("broken")
    def broken_in_thread(payload: Number) -> None:
        begun.run(f"select {payload.value} / 0")

    return broken_in_thread


def test_what_is_due_runs(begun: Transaction) -> None:
    for each in (double, double_in_thread, once, once_in_thread):
        begun.wait(each.enqueue(begun.conn, Number(21)))
    summary = drained(begun)
    assert (summary.succeeded, summary.errors) == (4, [])
    assert begun.wait(enqueued(begun.conn)) == []


def test_a_limit_leaves_the_rest_for_the_next_drain(begun: Transaction) -> None:
    for value in (1, 2, 3):
        begun.wait(double.enqueue(begun.conn, Number(value)))
    summary = drained(begun, limit=2)
    assert (summary.succeeded, summary.stop_reason, summary.more) == (2, "limit", True)
    assert begun.wait(enqueued(begun.conn, double)) == [Number(3)]


def test_the_clock_moves_for_this_transaction(begun: Transaction) -> None:
    assert begun.wait(clock(begun.conn).set(AT)) == AT
    begun.wait(steer.enqueue(begun.conn, "snooze"))
    assert drained(begun).snoozed == 1
    begun.wait(clock(begun.conn).advance(minutes=59))
    assert drained(begun).claimed == 0
    assert begun.wait(clock(begun.conn).advance(minutes=1)) == datetime(2027, 3, 1, 13, tzinfo=UTC)
    assert drained(begun).snoozed == 1


def test_after_an_error_of_the_database_in_a_job_the_transaction_goes_on(begun: Transaction) -> None:
    begun.wait(begun.run("insert into written values (1)"))
    broken = dividing_by_zero(begun)
    begun.wait(broken.enqueue(begun.conn, Number(1)))
    begun.wait(double.enqueue(begun.conn, Number(2)))
    summary = drained(begun, broken)
    assert (summary.succeeded, summary.failed) == (1, 1)
    assert counted(begun, "select count(*) from written") == 1


def test_the_rollback_takes_all_of_it(begun: Transaction, sync_conn: psycopg.Connection[Any]) -> None:
    begun.wait(grouped.enqueue(begun.conn, Price(cents=1), group_key="one"))
    begun.wait(once.enqueue(begun.conn, Number(1)))
    begun.wait(steer.enqueue(begun.conn, "error"))
    assert drained(begun).claimed == 3
    begun.wait(begun.rollback())
    for table in (
        "jobs",
        "ticks",
        "attempts",
        "claims",
        "markers",
        "unique_keys",
        "group_calls",
        "deployments",
        "kinds",
    ):
        assert sync_conn.execute(f"select count(*) from crontick.{table}".encode()).fetchone() == (0,), table


def test_the_limits_of_the_transaction_are_as_before(begun: Transaction) -> None:
    begun.wait(begun.run("set local lock_timeout = '7s'"))
    begun.wait(double.enqueue(begun.conn, Number(1)))
    drained(begun)
    limits = "(('lock_timeout', '7000'), ('statement_timeout', '0'))"
    assert counted(begun, f"select count(*) from pg_settings where (name, setting) in {limits}") == 2


def test_no_character_of_a_value_is_read_as_sql(begun: Transaction) -> None:
    said = r"""it's 100% of $1, %(id)s, :name, "quoted", \ and $$ -- ü"""
    begun.wait(echo.enqueue(begun.conn, said))
    assert begun.wait(enqueued(begun.conn, echo)) == [said]
    assert drained(begun).succeeded == 1
    literal = said.replace("'", "''").replace("%", "' || chr(37) || '").replace(":name", "' || chr(58) || 'name")
    assert counted(begun, f"select count(*) from crontick.jobs where result #>> '{{}}' = '{literal}'") == 1


def test_payloads_come_back_as_their_type(begun: Transaction) -> None:
    begun.wait(double.enqueue(begun.conn, Number(1)))
    begun.wait(grouped.enqueue(begun.conn, Price(cents=5)))
    assert begun.wait(enqueued(begun.conn, double)) == [Number(1)]
    assert begun.wait(enqueued(begun.conn)) == [{"value": 1}, {"cents": 5}]


def test_a_function_borrows_the_connection(begun: Transaction, request: pytest.FixtureRequest) -> None:
    """Where its driver is psycopg; the error says so where it is another."""
    for each in (write, write_in_thread, complete):
        begun.wait(each.enqueue(begun.conn, Number(5)))
    summary = drained(begun)
    if "asyncpg" in request.node.name or "psycopg2" in request.node.name or "async_scoped" in request.node.name:
        assert (summary.failed, summary.errors[0].error) == (3, "TypeError")
    else:
        assert (summary.succeeded, summary.errors) == (3, [])
        assert counted(begun, "select count(*) from written") == 3
