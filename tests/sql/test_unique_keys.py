"""Unique keys: how long each holds, and what a second enqueue gets."""

import threading
from typing import Any

import psycopg
import pytest

from tests.sql.conftest import Sql


def test_a_key_that_is_taken_gives_the_existing_job_s_id(sql: Sql) -> None:
    first = sql.enqueue(unique_key="k", payload='{"n": 1}')
    assert sql.enqueue(unique_key="k", payload='{"n": 2}') == first
    assert sql.job(first)["payload"] == {"n": 1}
    assert sql.one("select count(*) from crontick.jobs") == 1


def test_keys_of_two_kinds_are_two_keys(sql: Sql) -> None:
    assert sql.enqueue(unique_key="k") != sql.enqueue("other", unique_key="k")


@pytest.mark.parametrize(
    ("mode", "while_it_runs", "after"), [("active", True, False), ("waiting", False, False), ("always", True, True)]
)
def test_a_key_holds_as_long_as_its_mode_says(sql: Sql, mode: str, while_it_runs: bool, after: bool) -> None:  # noqa: FBT001
    job = sql.enqueue(unique_key="k", unique_for=mode)
    assert sql.claim() == [job]
    second = sql.enqueue(unique_key="k", unique_for=mode)
    assert (second == job) is while_it_runs
    sql.rows("select crontick.settle(11, %s, '{11}', null, null)", [job])
    if while_it_runs:
        assert (sql.enqueue(unique_key="k", unique_for=mode) == job) is after


@pytest.mark.parametrize("end", ["dead", "cancelled"])
def test_an_active_key_is_free_after_any_end(sql: Sql, end: str) -> None:
    job = sql.enqueue(unique_key="k")
    sql.claim()
    sql.settle(job, end, error="over")
    assert sql.enqueue(unique_key="k") != job


@pytest.mark.parametrize("mode", ["active", "waiting"])
def test_cancelling_a_job_frees_its_key(sql: Sql, mode: str) -> None:
    job = sql.enqueue(unique_key="k", unique_for=mode)
    sql.one("select crontick.cancel(%s, 'me')", job)
    assert sql.enqueue(unique_key="k", unique_for=mode) != job


def test_an_active_key_holds_while_its_job_waits_for_another_attempt(sql: Sql) -> None:
    job = sql.enqueue(unique_key="k")
    sql.claim()
    sql.settle(job, "failed", error="no", delay_seconds=60)
    assert sql.enqueue(unique_key="k") == job


@pytest.mark.parametrize(("mode", "length"), [("24 hours", "24 hours"), ("always", "400 days")])
def test_a_key_with_an_end_holds_until_then_whatever_became_of_the_job(sql: Sql, mode: str, length: str) -> None:
    job = sql.enqueue(unique_key="k", unique_for=mode)
    sql.claim()
    sql.rows("select crontick.settle(11, %s, '{11}', null, null)", [job])
    sql.rows("delete from crontick.finished_jobs")
    sql.later(length)
    sql.later("-1 minute")
    assert sql.enqueue(unique_key="k", unique_for=mode) == job
    sql.later("2 minutes")
    assert sql.enqueue(unique_key="k", unique_for=mode) != job


def test_replace_gives_a_job_that_has_not_started_a_new_payload_and_time(sql: Sql) -> None:
    job = sql.enqueue(unique_key="k", payload='{"n": 1}')
    assert sql.enqueue(unique_key="k", payload='{"n": 2}', run_at="2026-12-24T12:00Z", on_conflict="replace") == job
    assert sql.job(job)["payload"] == {"n": 2}
    assert sql.one("select run_at = '2026-12-24 12:00Z' and due_at = run_at from crontick.unfinished_jobs")


def test_replace_leaves_a_job_that_has_started_alone(sql: Sql) -> None:
    job = sql.enqueue(unique_key="k", payload='{"n": 1}')
    sql.claim()
    sql.settle(job, "failed", error="no", delay_seconds=60)
    assert sql.enqueue(unique_key="k", payload='{"n": 2}', on_conflict="replace") == job
    assert sql.job(job)["payload"] == {"n": 1}


def test_a_replaced_job_is_not_due_before_its_new_time(sql: Sql) -> None:
    sql.enqueue(unique_key="k")
    sql.rows(
        "select crontick.enqueue('mail', unique_key => 'k', run_at => now() + interval '1 h', on_conflict => 'replace')"
    )
    assert sql.claim() == []


def test_keys_of_eight_thousand_bytes_work(sql: Sql) -> None:
    key = "k" * 8191
    assert sql.enqueue(unique_key=key + "a") == sql.enqueue(unique_key=key + "a")
    assert sql.enqueue(unique_key=key + "b") != sql.enqueue(unique_key=key + "a")


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_key_that_another_transaction_holds_is_waited_for(sql: Sql, database: str, end: str) -> None:
    answers: list[Any] = []

    def second() -> None:
        with psycopg.connect(database, autocommit=True) as conn:
            answers.append(conn.execute("select crontick.enqueue('mail', unique_key => 'k')").fetchone())

    sql.rows("begin")
    job = sql.enqueue(unique_key="k")
    other = threading.Thread(target=second)
    other.start()
    try:
        sql.wait_for_lock(database)
    finally:
        sql.rows(end)
        other.join(30)
    assert (answers == [(job,)]) is (end == "commit")
    assert len(answers) == 1
