"""crontick.enqueue_many: ten thousand jobs in one statement."""

import json
import threading

import psycopg
import pytest

from tests.sql.conftest import Sql


def test_it_answers_in_the_order_of_the_array_and_says_which_are_new(sql: Sql) -> None:
    held = sql.enqueue(unique_key="a")
    answer = sql.rows(
        "select nth, id, created from crontick.enqueue_many(%s) order by nth",
        '[{"kind": "mail", "unique_key": "z"}, {"kind": "mail", "unique_key": "a"},'
        ' {"kind": "mail"}, {"kind": "mail", "unique_key": "z"}]',
    )
    assert [(nth, created) for nth, _, created in answer] == [(1, True), (2, False), (3, True), (4, False)]
    assert (answer[1][1], answer[3][1]) == (held, answer[0][1])


def test_every_argument_of_enqueue_can_be_given(sql: Sql) -> None:
    told = {
        "kind": "mail", "payload": {"a": 1}, "run_at": "2026-12-24T12:00:00+01:00", "queue": "slow", "priority": 3,
        "max_attempts": 2, "unique_key": "k", "unique_for": "always", "group_key": "g", "on_conflict": "replace",
        "expires_at": "2026-12-25T12:00:00Z",
    }  # fmt: skip
    job = sql.job(sql.one("select id from crontick.enqueue_many(%s)", json.dumps([told])))
    assert {name: job[name] for name in ("queue", "priority", "max_attempts", "group_key", "payload")} == {
        name: told[name] for name in ("queue", "priority", "max_attempts", "group_key", "payload")
    }
    assert sql.one("select run_at = '2026-12-24 11:00Z' and expires_at = '2026-12-25 12:00Z' from crontick.jobs")
    assert sql.one("select mode from crontick.unique_keys") == "always"


def test_a_time_without_a_zone_is_utc_whatever_the_session_s_zone(sql: Sql) -> None:
    sql.rows("set timezone = 'Asia/Tokyo'")
    told = {"kind": "mail", "run_at": "2026-12-24T11:00:00", "expires_at": "2026-12-25 12:00"}
    sql.one("select id from crontick.enqueue_many(%s)", json.dumps([told]))
    assert sql.one("select run_at = '2026-12-24 11:00Z' and expires_at = '2026-12-25 12:00Z' from crontick.jobs")
    assert sql.one("show timezone") == "Asia/Tokyo"


def test_ten_thousand_are_taken_and_one_more_is_not(sql: Sql) -> None:
    many = [{"kind": "mail"}] * 10_000
    assert sql.one("select count(distinct nth) from crontick.enqueue_many(%s)", json.dumps(many)) == 10_000
    assert sql.refused("select crontick.enqueue_many(%s)", json.dumps([*many, many[0]])).sqlstate == "CT002"
    assert sql.one("select count(*) from crontick.jobs") == 10_000


def test_sixteen_mebibytes_are_the_most(sql: Sql) -> None:
    heavy = [{"kind": "mail", "payload": {"a": "x" * 60_000}}] * 280
    assert sql.refused("select crontick.enqueue_many(%s)", json.dumps(heavy)).sqlstate == "CT002"


@pytest.mark.parametrize(
    "jobs",
    ["{}", "null", '"mail"', "[1]", '["mail"]', "[null]", '[{"kind": "mail", "delay": 3}]', '[[{"kind": "mail"}]]'],
)
def test_what_is_not_a_list_of_jobs_is_refused(sql: Sql, jobs: str) -> None:
    error = sql.refused("select crontick.enqueue_many(%s)", jobs)
    assert (error.sqlstate, bool(error.diag.message_hint)) == ("CT004", True)


def test_nothing_at_all_is_refused_and_an_empty_list_is_not(sql: Sql) -> None:
    assert sql.refused("select crontick.enqueue_many(null)").sqlstate == "CT004"
    assert sql.rows("select nth from crontick.enqueue_many('[]')") == []


def test_one_bad_job_refuses_all_of_them(sql: Sql) -> None:
    sql.refused("select crontick.enqueue_many(%s)", '[{"kind": "mail"}, {"kind": "mail", "priority": 900}]')
    assert sql.one("select count(*) from crontick.jobs") == 0


def test_two_that_name_the_same_keys_in_opposite_orders_do_not_deadlock(sql: Sql, database: str) -> None:
    keys = [{"kind": "mail", "unique_key": f"k{n}"} for n in range(41)]
    answers: list[list[int]] = []

    def all_of(jobs: list[dict[str, str]], *, turned: int) -> None:
        with psycopg.connect(database, autocommit=True) as conn:
            cursor = conn.execute("select id from crontick.enqueue_many(%s) order by nth", [json.dumps(jobs)])
            answers.append([row[0] for row in cursor.fetchall()][::turned])

    sql.rows("begin")  # holds a key in the middle of both lists until both have come to it
    sql.enqueue(unique_key="k20")
    others = [threading.Thread(target=all_of, args=(keys[::turn],), kwargs={"turned": turn}) for turn in (1, -1)]
    for other in others:
        other.start()
    try:
        sql.wait_for_lock(database, sessions=2)
    finally:
        sql.rows("commit")
        for other in others:
            other.join(30)
    assert len(answers) == 2
    assert answers[0] == answers[1]
