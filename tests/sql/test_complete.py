"""crontick.complete: a job succeeds in its function's own transaction, or that transaction does not happen."""

import json

import pytest

from tests.sql.conftest import Sql


def test_it_commits_with_what_the_function_wrote(sql: Sql) -> None:
    job = sql.enqueue(unique_key="k", group_key="g")
    sql.claim()
    sql.rows("begin")
    sql.rows("create table public.ledger (n int)")
    sql.rows("select crontick.complete(%s, 11, %s)", job, '{"paid": true}')
    sql.rows("commit")
    told = sql.job(job)
    assert (told["status"], told["result"]) == ("succeeded", {"paid": True})
    assert sql.enqueue(unique_key="k") != job
    assert sql.one("select count(*) from crontick.group_calls") == 1


def test_rolled_back_the_job_still_runs(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.rows("begin")
    sql.rows("select crontick.complete(%s, 11)", job)
    sql.rows("rollback")
    assert sql.job(job)["status"] == "running"


@pytest.mark.parametrize("claim", [12, None])
def test_a_stale_claim_raises_so_that_a_caught_error_still_cannot_commit(sql: Sql, claim: int | None) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.rows("create table public.ledger (n int)")
    sql.rows("begin")
    sql.rows("insert into public.ledger values (1)")
    error = sql.refused("select crontick.complete(%s, %s)", job, claim)
    sql.rows("commit")
    assert (error.sqlstate, sql.one("select count(*) from public.ledger")) == ("CT410", 0)
    assert sql.job(job)["status"] == "running"


def test_it_cannot_be_called_twice(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.rows("select crontick.complete(%s, 11)", job)
    assert sql.refused("select crontick.complete(%s, 11)", job).sqlstate == "CT410"


def test_a_job_that_was_handed_back_cannot_be_completed_by_its_old_claim(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.settle(job, "handed_back", began=True)
    assert sql.refused("select crontick.complete(%s, 11)", job).sqlstate == "CT410"


def test_its_marker_is_sent_in_the_same_transaction(sql: Sql) -> None:
    job = sql.enqueue(payload='{"key": "k"}')
    sql.claim()
    sql.rows("select crontick.complete(%s, 11)", job)
    assert sql.rows("select key, state, job from crontick.markers") == [("k", "sent", job)]


def test_a_result_over_64_kib_is_refused(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    assert sql.refused("select crontick.complete(%s, 11, %s)", job, json.dumps("x" * 65536)).sqlstate == "CT002"
    sql.rows("select crontick.complete(%s, 11, %s)", job, json.dumps("x" * 65534))
    assert len(sql.job(job)["result"]) == 65534


def test_the_settle_that_follows_finds_it_done_and_does_not_call_it_lost(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.rows("select crontick.complete(%s, 11)", job)
    told = json.dumps([{"id": job, "claim": 11, "outcome": "failed", "completed": True}])
    assert sql.rows("select lost, held, already from crontick.settle(11, '{}', '{}', %s, null)", told) == [
        ([], [], [job])
    ]
    assert sql.rows("select succeeded, failed, lost from crontick.ticks") == [(1, 0, 0)]
    assert sql.one("select count(*) from crontick.claims") == 0
