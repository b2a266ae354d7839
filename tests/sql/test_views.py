"""What people read: the views, on a database with one of everything."""

from typing import Any

import pytest

from tests.sql.conftest import Sql

COLUMNS = (
    "id, kind, queue, payload, status, priority, attempt, max_attempts, run_at, unique_key, group_key, claim,"
    " claimed_at, claimed_by, lease_expires_at, last_error, last_error_at, last_status_code, result, progress_done,"
    " progress_total, expires_at, created_at, updated_at, started_at, finished_at, requeued_from, resolution,"
    " resolved_by, resolved_at, resolved_reason"
)


def dicts(sql: Sql, view: str) -> list[dict[str, Any]]:
    return [row[0] for row in sql.rows(f"select to_jsonb(v) from crontick.{view} as v order by to_jsonb(v)::text")]


def test_jobs_shows_finished_and_unfinished_ones_with_all_their_columns(sql: Sql) -> None:
    dead, queued = sql.dead(), sql.enqueue()
    assert sql.rows(f"select {COLUMNS} from crontick.jobs order by id")[0][0] == dead
    assert {row["id"]: row["status"] for row in dicts(sql, "jobs")} == {dead: "dead", queued: "queued"}


def test_overview_counts_by_queue_kind_and_status_and_says_since_when_the_oldest_is_due(sql: Sql) -> None:
    sql.dead()
    sql.enqueue(run_at="2027-01-01T00:00Z")
    sql.enqueue(queue="slow")
    sql.later("10 minutes")
    sql.enqueue(queue="slow")
    told = {
        (row["queue"], row["status"]): (row["jobs"], row["oldest_due_at"] is not None) for row in dicts(sql, "overview")
    }
    assert told == {("post", "dead"): (1, False), ("post", "queued"): (1, False), ("slow", "queued"): (2, True)}
    age = "select extract(epoch from crontick.now() - min(oldest_due_at)) between 599 and 660 from crontick.overview"
    assert sql.one(age)


def test_dead_letters_are_those_that_wait_for_a_person(sql: Sql) -> None:
    waiting, ignored, requeued = sql.dead("503 from crm"), sql.dead(), sql.dead()
    sql.rows("select crontick.ignore(%s, 'ann', 'known')", ignored)
    sql.rows("select crontick.requeue(%s, 'ann')", requeued)
    assert [(row["id"], row["last_error"]) for row in dicts(sql, "dead_letters")] == [(waiting, "503 from crm")]


def test_doubts_are_the_markers_of_which_nobody_knows(sql: Sql) -> None:
    job = sql.doubtful("order:7")
    assert [(row["kind"], row["key"], row["job"]) for row in dicts(sql, "doubts")] == [("mail", "order:7", job)]


def test_a_doubt_keeps_job_attempts_and_provider(sql: Sql) -> None:
    job = sql.enqueue(payload='{"key": "k"}')
    sql.claim()
    mark = {
        "kind": "mail",
        "key": "k",
        "state": "sent",
        "provider": "smtp",
        "message_id": "<1@x>",
        "content_hash": "abc",
    }
    sql.settle(job, "succeeded", marks=[mark], provider="smtp", provider_message_id="<1@x>")
    [marker] = dicts(sql, "markers")
    assert (marker["state"], marker["provider"], marker["provider_message_id"]) == ("sent", "smtp", "<1@x>")
    [attempt] = dicts(sql, "attempts")
    assert (attempt["outcome"], attempt["provider"], attempt["provider_message_id"]) == ("succeeded", "smtp", "<1@x>")


def test_blocked_groups_show_the_head_and_how_many_wait(sql: Sql) -> None:
    head, _, _ = sql.enqueue(group_key="g"), sql.enqueue(group_key="g"), sql.enqueue(group_key="g")
    sql.enqueue(group_key="alone")
    sql.claim(seats=5)
    sql.settle(head, "failed", error="no", delay_seconds=60)
    [group] = dicts(sql, "blocked_groups")
    told = ("group_key", "head", "head_status", "head_attempt", "waiting", "head_error")
    assert tuple(group[name] for name in told) == ("g", head, "failed", 1, 2, "no")
    assert group["head_since"] <= group["waiting_since"]


def test_every_failed_attempt_is_kept_with_its_time(sql: Sql) -> None:
    job = sql.enqueue()
    for number in (1, 2):
        sql.claim(claim=number)
        sql.settle(job, "failed", claim=number, error=f"no {number}", status_code=503, delay_seconds=1)
        sql.later("5 seconds")
    kept = sql.rows(
        "select number, outcome, retryable, error, status_code, retry_at - ended_at = '1 s'"
        " from crontick.attempts order by number"
    )
    assert kept == [(n, "failed", True, f"no {n}", 503, True) for n in (1, 2)]


def test_paused_says_what_by_whom_and_why_and_pausing_twice_changes_nothing(sql: Sql) -> None:
    sql.rows("select crontick.pause('queue', 'post', 'ann', 'deploy')")
    sql.rows("select crontick.pause('queue', 'post', 'bob', 'again')")
    [paused] = dicts(sql, "paused")
    assert (paused["what"], paused["name"], paused["by"], paused["reason"]) == ("queue", "post", "ann", "deploy")
    sql.rows("select crontick.resume('queue', 'post', 'bob')")
    assert dicts(sql, "paused") == []


@pytest.mark.parametrize(
    "call",
    [
        "pause('shelf', 'x', 'ann')",
        "pause(null, 'x', 'ann')",
        "pause('queue', '', 'ann')",
        "pause('queue', null, 'ann')",
    ],
)
def test_pausing_nonsense_is_refused(sql: Sql, call: str) -> None:
    assert sql.refused(f"select crontick.{call}").sqlstate == "CT004"


def test_resuming_what_is_not_paused_is_an_error(sql: Sql) -> None:
    assert sql.refused("select crontick.resume('queue', 'post', 'ann')").sqlstate == "CT404"
