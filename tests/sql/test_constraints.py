"""The schema refuses nonsense, whoever writes it."""

import pytest

from tests.sql.conftest import Sql

UNFINISHED = [
    ("status = 'succeeded'", "status_is_unfinished"),
    ("status = 'running'", "lease_while_running"),
    ("lease_expires_at = now()", "lease_while_running"),
    ("held_by = 'mood'", "held_by_is_known"),
    ("run_at = 'infinity'", "run_at_is_near"),
    ("run_at = '-infinity'", "run_at_is_near"),
    ("run_at = '1999-12-31'", "run_at_is_near"),
    ("run_at = created_at + interval '121 months'", "run_at_is_near"),
    ("priority = 101", "numbers_in_range"),
    ("max_attempts = 0", "numbers_in_range"),
    ("attempt = -1", "numbers_in_range"),
]
FINISHED = [
    ("status = 'queued'", "status_is_finished"),
    ("status = 'finished'", "status_is_finished"),
    ("resolution = 'forgotten'", "resolution_is_known"),
    ("status = 'succeeded', resolution = 'ignored'", "only_the_dead_are_resolved"),
]


@pytest.mark.parametrize(("change", "constraint"), UNFINISHED)
def test_an_unfinished_job_cannot_be(sql: Sql, change: str, constraint: str) -> None:
    sql.enqueue()
    assert sql.refused(f"update crontick.unfinished_jobs set {change}").diag.constraint_name == constraint


@pytest.mark.parametrize(("change", "constraint"), FINISHED)
def test_a_finished_job_cannot_be(sql: Sql, change: str, constraint: str) -> None:
    sql.dead()
    assert sql.refused(f"update crontick.finished_jobs set {change}").diag.constraint_name == constraint


def test_a_finished_job_has_an_end(sql: Sql) -> None:
    sql.dead()
    assert sql.refused("update crontick.finished_jobs set finished_at = null").sqlstate == "23502"


def test_a_group_has_one_head(sql: Sql) -> None:
    sql.enqueue(group_key="g")
    sql.enqueue(group_key="g")
    error = sql.refused("update crontick.unfinished_jobs set held_by = null")
    assert error.diag.constraint_name == "unfinished_jobs_head"


def test_there_is_one_installation_row(sql: Sql) -> None:
    again = "insert into crontick.installation (environment, version, oldest_code) values ('x', 1, 1)"
    assert sql.refused(again).sqlstate == "23505"
    assert (
        sql.refused(again.replace("oldest_code)", "oldest_code, singleton)").replace("1)", "1, false)")).sqlstate
        == "23514"
    )


def test_a_retry_after_the_ten_years_is_clamped(sql: Sql) -> None:
    job = sql.enqueue()
    sql.claim()
    sql.settle(job, "snoozed", delay_seconds=20 * 365 * 86400.0)
    assert sql.one("select run_at = created_at + interval '10 years' from crontick.jobs where id = %s", job)
