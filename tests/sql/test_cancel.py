"""crontick.cancel and crontick.run_now: stop a job, hurry a job."""

import pytest

from tests.sql.conftest import Sql


def test_a_queued_job_is_cancelled_and_its_row_says_by_whom_and_why(sql: Sql) -> None:
    job = sql.enqueue()
    assert sql.one("select crontick.cancel(%s, 'ann', 'typo')", job) == "cancelled"
    told = sql.job(job)
    assert (told["status"], told["last_error"]) == ("cancelled", "cancelled by ann: typo")
    assert told["finished_at"] is not None
    assert sql.claim() == []


def test_a_failed_job_is_cancelled(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.settle(job, "failed", error="no", delay_seconds=60)
    assert sql.one("select crontick.cancel(%s, 'ann')", job) == "cancelled"


def test_a_running_job_is_asked_to_stop_and_its_row_is_not_touched(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    before = sql.one("select xmin::text from crontick.unfinished_jobs where id = %s", job)
    assert sql.one("select crontick.cancel(%s, 'ann', 'typo')", job) == "running"
    assert sql.one("select crontick.cancel(%s, 'bob')", job) == "running"
    assert sql.one("select xmin::text from crontick.unfinished_jobs where id = %s", job) == before
    assert sql.rows("select job, by, reason from crontick.cancel_requests") == [(job, "ann", "typo")]


def test_cancelling_what_has_ended_changes_nothing_and_says_how_it_ended(sql: Sql) -> None:
    job = sql.dead()
    assert sql.one("select crontick.cancel(%s, 'ann')", job) == "dead"
    assert sql.job(job)["status"] == "dead"


@pytest.mark.parametrize("call", ["cancel", "run_now", "requeue", "ignore"])
def test_a_job_that_is_not_there_is_an_error_of_its_own(sql: Sql, call: str) -> None:
    error = sql.refused(f"select crontick.{call}(4711, 'ann', 'why')")
    assert (error.sqlstate, "4711" in str(error)) == ("CT404", True)
    assert error.diag.message_hint


ACTIONS = [
    "cancel(1, {by}, {reason})",
    "run_now(1, {by}, {reason})",
    "requeue(1, {by}, {reason})",
    "ignore(1, {by}, {reason})",
    "pause('queue', 'q', {by}, {reason})",
    "resume('queue', 'q', {by}, {reason})",
    "resolve_doubt('mail', 'k', 'sent', {by}, {reason})",
]


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("by", "reason"), [("null", "'x'"), ("''", "'x'"), ("repeat('b', 129)", "'x'"), ("'ann'", "repeat('r', 1001)")]
)
def test_whoever_acts_says_who_in_bounded_words(sql: Sql, action: str, by: str, reason: str) -> None:
    assert sql.refused(f"select crontick.{action.format(by=by, reason=reason)}").sqlstate == "CT004"


def test_a_future_job_can_be_made_due_at_once(sql: Sql) -> None:
    job = sql.enqueue(run_at="2027-01-01T00:00Z")
    assert sql.claim() == []
    assert sql.one("select crontick.run_now(%s, 'ann')", job) == "queued"
    assert sql.claim(claim=12) == [job]


def test_a_failed_job_can_be_made_due_at_once(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.settle(job, "failed", error="no", delay_seconds=3600)
    assert sql.one("select crontick.run_now(%s, 'ann')", job) == "failed"
    assert sql.claim(claim=12) == [job]


def test_hurrying_a_follower_does_not_let_it_pass_the_head_of_its_group(sql: Sql) -> None:
    head = sql.enqueue(group_key="g")
    follower = sql.enqueue(group_key="g")
    sql.one("select crontick.run_now(%s, 'ann')", follower)
    assert sql.claim(seats=5) == [head]


@pytest.mark.parametrize("state", ["running", "dead"])
def test_hurrying_what_runs_or_has_ended_changes_nothing(sql: Sql, state: str) -> None:
    job = sql.enqueue()
    sql.claim()
    if state == "dead":
        sql.settle(job, "dead", error="no")
    assert sql.one("select crontick.run_now(%s, 'ann')", job) == state


def test_every_action_leaves_a_line_in_the_audit(sql: Sql) -> None:
    job, other, dead, ignored = sql.enqueue(run_at="2027-01-01T00:00Z"), sql.enqueue(queue="q"), sql.dead(), sql.dead()
    copy = sql.one("select crontick.requeue(%s, 'ann', 'mended')", dead)
    sql.doubtful()
    sql.rows("select crontick.ignore(%s, 'ann', 'known')", ignored)
    sql.rows("select crontick.run_now(%s, 'ann', 'hurry')", job)
    sql.rows("select crontick.cancel(%s, 'ann', 'typo')", other)
    sql.rows("select crontick.pause('queue', 'q', 'ann', 'deploy')")
    sql.rows("select crontick.resume('queue', 'q', 'ann', 'done')")
    sql.rows("select crontick.resolve_doubt('mail', 'k', 'sent', 'ann', 'they got it')")
    audit = sql.rows(
        "select action, target, job, by, reason, session_role = session_user from crontick.audit order by id"
    )
    assert [line[0] for line in audit] == ["requeue", "ignore", "run_now", "cancel", "pause", "resume", "resolve_doubt"]
    assert audit[0][1:] == (f"job {dead}", dead, "ann", "mended", True)
    assert audit[4][1:] == ("queue q", None, "ann", "deploy", True)
    assert sql.one("select details ->> 'copy' from crontick.audit where action = 'requeue'") == str(copy)
