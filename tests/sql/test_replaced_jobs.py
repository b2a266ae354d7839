"""``on_conflict => 'replace'``: what a job that has not started gets, wherever it waits."""

from typing import Any

import pytest

from tests.sql.conftest import Sql

REPLACE = "select crontick.enqueue('mail', '{\"n\": 2}', %s, unique_key => 'k', on_conflict => 'replace')"
LATER = REPLACE.replace("%s", "crontick.now() + interval '1 h'")
NOW = REPLACE.replace("%s", "null")


def place(sql: Sql, job: int) -> tuple[Any, ...]:
    """Its payload's number, whether it is in line, what holds it, whether it is due at its time."""
    [row] = sql.rows(
        "select payload -> 'n', in_line, held_by, due_at = run_at from crontick.unfinished_jobs where id = %s", job
    )
    return row


def keyed(sql: Sql, **arguments: object) -> int:
    return sql.enqueue(payload='{"n": 1}', unique_key="k", **arguments)


def test_a_follower_that_is_to_run_later_leaves_the_line_and_joins_it_when_it_is_due(sql: Sql) -> None:
    head, job, last = sql.enqueue(group_key="g"), keyed(sql, group_key="g"), sql.enqueue(group_key="g")
    assert sql.one(LATER) == job
    assert place(sql, job) == (2, False, None, True)
    assert sql.claim(seats=9, claim=11) == [head]
    sql.settle(head, "succeeded")
    assert sql.claim(seats=9, claim=12) == [last]
    sql.settle(last, "succeeded", claim=12)
    assert sql.claim(seats=9, claim=13) == []
    sql.later("61 minutes")
    sql.claim(seats=9, claim=14)  # meets it, and puts it in line
    assert sql.claim(seats=9, claim=15) == [job]


def test_a_head_that_is_to_run_later_lets_the_next_one_go(sql: Sql) -> None:
    job, follower = keyed(sql, group_key="g"), sql.enqueue(group_key="g")
    sql.rows("select crontick.place()")
    assert sql.one(LATER) == job
    assert sql.claim(seats=9) == [follower]


def test_a_job_to_come_that_is_to_run_now_takes_its_place_by_id(sql: Sql) -> None:
    job = keyed(sql, group_key="g", run_at="2036-01-01T00:00Z")
    follower = sql.enqueue(group_key="g")
    assert sql.one(NOW) == job
    assert sql.claim(seats=9, claim=11) == [follower]  # meets the other, and puts it in line
    last = sql.enqueue(group_key="g")
    sql.settle(follower, "succeeded")
    assert sql.claim(seats=9, claim=12) == [job]
    sql.settle(job, "succeeded", claim=12)
    assert sql.claim(seats=9, claim=13) == [last]


def test_a_follower_that_is_replaced_at_its_time_keeps_its_place(sql: Sql) -> None:
    head, job, last = sql.enqueue(group_key="g"), keyed(sql, group_key="g"), sql.enqueue(group_key="g")
    assert sql.one(NOW) == job
    ran = []
    for claim in (11, 12, 13):
        ran += sql.claim(seats=9, claim=claim)
        sql.settle(ran[-1], "succeeded", claim=claim)
    assert ran == [head, job, last]


@pytest.mark.parametrize("hold", ["kind", "pause"])
def test_a_hold_for_its_kind_or_group_stays(sql: Sql, hold: str) -> None:
    job = keyed(sql)
    sql.rows("update crontick.unfinished_jobs set held_by = %s, due_at = 'infinity'", hold)
    sql.one(NOW)
    assert place(sql, job) == (2, False, hold, False)


@pytest.mark.parametrize("hold", ["key:k1", "endpoint:crm"])
def test_a_hold_for_its_old_payload_is_judged_afresh(sql: Sql, hold: str) -> None:
    job = keyed(sql)
    sql.rows("update crontick.unfinished_jobs set held_by = %s, due_at = 'infinity'", hold)
    sql.one(NOW)
    assert place(sql, job) == (2, False, None, True)
    assert sql.claim() == [job]


def test_it_gets_the_new_expiry_too_so_that_a_job_put_off_does_not_expire_before_its_time(sql: Sql) -> None:
    job = keyed(sql)
    sql.rows("update crontick.unfinished_jobs set expires_at = crontick.now() + interval '30 minutes'")
    sql.one(LATER)
    sql.later("61 minutes")
    assert sql.claim() == [job]


@pytest.mark.parametrize(
    ("outcome", "ending"),
    [
        ("failed", {"error": "no", "delay_seconds": 60}),
        ("snoozed", {"delay_seconds": 60}),
        ("handed_back", {"began": True}),
    ],
)
def test_a_job_that_has_begun_keeps_payload_and_time(sql: Sql, outcome: str, ending: dict[str, Any]) -> None:
    job = keyed(sql)
    sql.claim()
    sql.settle(job, outcome, **ending)
    assert sql.one(NOW) == job
    assert place(sql, job)[0] == 1


def test_a_rescued_job_keeps_payload_and_time(sql: Sql) -> None:
    job = keyed(sql)
    sql.claim()
    sql.later("1 minute")
    sql.claim(claim=12, kinds=("other",))
    assert sql.one(NOW) == job
    assert place(sql, job)[0] == 1


def test_a_job_that_was_handed_back_before_it_began_has_not_started(sql: Sql) -> None:
    job = keyed(sql)
    sql.claim()
    sql.settle(job, "handed_back")
    assert sql.job(job)["started_at"] is None
    assert sql.one(NOW) == job
    assert place(sql, job)[0] == 2


def test_a_job_that_began_once_has_started_though_it_is_handed_back_later(sql: Sql) -> None:
    job = keyed(sql)
    sql.claim()
    sql.settle(job, "snoozed", delay_seconds=1)
    sql.later("2 s")
    sql.claim(claim=12)
    sql.settle(job, "handed_back", claim=12)
    assert sql.job(job)["started_at"] is not None


def test_a_waiting_key_is_not_taken_back_by_a_job_that_goes_back_to_the_queue(sql: Sql) -> None:
    job = keyed(sql, unique_for="waiting")
    sql.claim()
    second = keyed(sql, unique_for="waiting")
    sql.settle(job, "failed", error="no", delay_seconds=1)
    sql.later("2 s")
    assert second != job
    assert sql.claim(seats=9, claim=12) == [job, second]
    sql.settle(job, "handed_back", claim=12)
    assert sql.claim(claim=13) == [job]
