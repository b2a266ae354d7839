"""What becomes of a unique key when the job that had it died and is requeued."""

import pytest

from tests.sql.conftest import Sql


def requeue(sql: Sql, job: int) -> int:
    return int(sql.one("select crontick.requeue(%s, 'ann')", job))


def test_the_copy_has_the_key_until_it_ends(sql: Sql) -> None:
    copy = requeue(sql, sql.dead(unique_key="k"))
    assert sql.enqueue(unique_key="k") == copy
    assert sql.claim(claim=12) == [copy]
    assert sql.enqueue(unique_key="k") == copy
    sql.settle(copy, "succeeded", claim=12)
    assert sql.enqueue(unique_key="k") != copy


def test_a_key_that_another_job_has_by_now_is_left_with_it(sql: Sql) -> None:
    dead = sql.dead(unique_key="k")
    other = sql.enqueue(unique_key="k")
    copy = requeue(sql, dead)
    assert (sql.job(copy)["unique_key"], sql.enqueue(unique_key="k")) == (None, other)
    sql.one("select crontick.cancel(%s, 'ann')", copy)
    assert sql.enqueue(unique_key="k") == other


def test_the_copy_of_a_job_whose_key_held_until_it_started_frees_it_when_it_starts(sql: Sql) -> None:
    copy = requeue(sql, sql.dead(unique_key="k", unique_for="waiting"))
    assert sql.enqueue(unique_key="k", unique_for="waiting") == copy
    assert sql.claim(claim=12) == [copy]
    assert sql.enqueue(unique_key="k", unique_for="waiting") != copy


@pytest.mark.parametrize(("unique_for", "length"), [("24 hours", "24 hours"), ("always", "400 days")])
def test_a_key_with_an_end_goes_over_to_the_copy_and_keeps_its_end(sql: Sql, unique_for: str, length: str) -> None:
    dead = sql.dead(unique_key="k", unique_for=unique_for)
    free_at = sql.one("select free_at from crontick.unique_keys")
    sql.later("1 hour")
    copy = requeue(sql, dead)
    assert sql.enqueue(unique_key="k", unique_for=unique_for) == copy
    assert sql.rows("select job, free_at from crontick.unique_keys") == [(copy, free_at)]
    sql.later(length)
    assert sql.enqueue(unique_key="k", unique_for=unique_for) != copy


def test_a_key_whose_time_is_over_is_taken_by_the_copy_for_as_long_again(sql: Sql) -> None:
    dead = sql.dead(unique_key="k", unique_for="24 hours")
    sql.later("25 hours")
    copy = requeue(sql, dead)
    sql.later("23 hours")
    assert sql.enqueue(unique_key="k", unique_for="24 hours") == copy
    sql.later("2 hours")
    assert sql.enqueue(unique_key="k", unique_for="24 hours") != copy


def test_requeued_twice_it_is_one_copy_with_the_key(sql: Sql) -> None:
    dead = sql.dead(unique_key="k")
    copy = requeue(sql, dead)
    assert requeue(sql, dead) == copy
    assert sql.one("select count(*) from crontick.unfinished_jobs") == 1


def test_the_copy_of_a_copy_has_the_key_too(sql: Sql) -> None:
    copy = requeue(sql, sql.dead(unique_key="k", unique_for="waiting"))
    assert sql.claim(claim=12) == [copy]
    sql.settle(copy, "dead", claim=12, error="again")
    second = requeue(sql, copy)
    assert sql.enqueue(unique_key="k", unique_for="waiting") == second
