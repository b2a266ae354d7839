"""Dead letters and doubts: requeue, ignore, decide."""

import pytest

from tests.sql.conftest import Sql


def test_requeue_makes_a_fresh_copy_and_leaves_the_dead_one_as_it_was(sql: Sql) -> None:
    dead = sql.dead(payload='{"n": 1}', queue="slow", priority=2, max_attempts=9, group_key="g")
    copy = sql.one("select crontick.requeue(%s, 'ann', 'mended')", dead)
    old, new = sql.job(dead), sql.job(copy)
    assert {
        old[name] == new[name] for name in ("kind", "payload", "queue", "priority", "max_attempts", "group_key")
    } == {True}
    assert (new["status"], new["attempt"], new["requeued_from"], new["last_error"]) == ("queued", 0, dead, None)
    assert (old["status"], old["requeued_as"], old["resolution"], old["last_error"]) == (
        "dead",
        copy,
        "requeued",
        "it broke",
    )
    assert (old["resolved_by"], old["resolved_reason"]) == ("ann", "mended")
    assert sql.one("select count(*) from crontick.dead_letters") == 0


def test_a_second_requeue_gives_the_first_copy_s_id(sql: Sql) -> None:
    dead = sql.dead()
    copy = sql.one("select crontick.requeue(%s, 'ann')", dead)
    assert sql.one("select crontick.requeue(%s, 'bob')", dead) == copy
    assert sql.one("select count(*) from crontick.unfinished_jobs") == 1


def test_requeue_takes_an_edited_payload_and_a_time(sql: Sql) -> None:
    dead = sql.dead(payload='{"n": 1}')
    copy = sql.one("select crontick.requeue(%s, 'ann', 'fixed', %s, '2027-01-01T00:00Z')", dead, '{"n": 2}')
    assert (sql.job(copy)["payload"], sql.job(dead)["payload"]) == ({"n": 2}, {"n": 1})
    assert sql.one("select run_at = '2027-01-01 00:00Z' from crontick.jobs where id = %s", copy)


def test_the_lineage_keeps_its_first_job(sql: Sql) -> None:
    first = sql.dead()
    second = sql.one("select crontick.requeue(%s, 'ann')", first)
    sql.claim(claim=21)
    sql.settle(second, "dead", claim=21, error="again")
    third = sql.one("select crontick.requeue(%s, 'ann')", second)
    assert (sql.job(third)["requeued_from"], sql.job(third)["first_job"]) == (second, first)


def test_a_requeued_copy_has_the_unique_key_unless_another_job_took_it(sql: Sql) -> None:
    dead, other = sql.dead(unique_key="a"), sql.dead(unique_key="b")
    taken = sql.enqueue(unique_key="b")
    copy = sql.one("select crontick.requeue(%s, 'ann')", dead)
    assert sql.enqueue(unique_key="a") == copy
    assert sql.one("select crontick.requeue(%s, 'ann')", other) not in (taken, other)


@pytest.mark.parametrize(
    ("state", "hint"),
    [("queued", "run-now"), ("running", "run-now"), ("succeeded", "enqueue"), ("cancelled", "enqueue")],
)
def test_only_the_dead_are_requeued(sql: Sql, state: str, hint: str) -> None:
    job = sql.enqueue()
    if state != "queued":
        sql.claim()
    if state in ("succeeded", "cancelled"):
        sql.settle(job, state)
    error = sql.refused("select crontick.requeue(%s, 'ann')", job)
    assert (error.sqlstate, hint in (error.diag.message_hint or "")) == ("CT409", True)


def test_ignoring_needs_a_reason_and_a_dead_job_and_is_done_once(sql: Sql) -> None:
    dead, queued = sql.dead(), sql.enqueue()
    assert sql.refused("select crontick.ignore(%s, 'ann', '')", dead).sqlstate == "CT004"
    sql.rows("select crontick.ignore(%s, 'ann', 'known')", dead)
    assert (sql.job(dead)["resolution"], sql.job(dead)["resolved_reason"]) == ("ignored", "known")
    assert sql.refused("select crontick.ignore(%s, 'ann', 'again')", dead).sqlstate == "CT409"
    assert sql.refused("select crontick.ignore(%s, 'ann', 'why not')", queued).sqlstate == "CT409"


def test_a_job_dead_in_doubt_is_not_requeued_but_decided(sql: Sql) -> None:
    job = sql.doubtful("order:7")
    error = sql.refused("select crontick.requeue(%s, 'ann')", job)
    assert error.sqlstate == "CT409"
    assert "resolve_doubt('mail', 'order:7'" in (error.diag.message_hint or "")


def test_a_doubt_decided_as_sent_resolves_the_job_and_keeps_the_marker(sql: Sql) -> None:
    job = sql.doubtful()
    assert sql.one("select crontick.resolve_doubt('mail', 'k', 'sent', 'ann', 'they got it')") is None
    assert (sql.job(job)["resolution"], sql.job(job)["resolved_by"]) == ("sent", "ann")
    assert sql.rows("select state from crontick.markers") == [("sent",)]
    assert sql.one("select count(*) from crontick.doubts") == 0


def test_a_doubt_decided_as_not_sent_frees_the_marker_and_gives_the_fresh_job_s_id(sql: Sql) -> None:
    job = sql.doubtful()
    copy = sql.one("select crontick.resolve_doubt('mail', 'k', 'not_sent', 'ann')")
    assert (sql.job(job)["resolution"], sql.job(job)["requeued_as"], sql.job(copy)["first_job"]) == (
        "not_sent",
        copy,
        job,
    )
    assert sql.rows("select state from crontick.markers") == []


def test_a_doubt_is_decided_once_and_only_where_there_is_one(sql: Sql) -> None:
    sql.doubtful()
    for decision in ("'maybe'", "null"):
        assert sql.refused(f"select crontick.resolve_doubt('mail', 'k', {decision}, 'ann')").sqlstate == "CT004"
    assert sql.refused("select crontick.resolve_doubt('mail', 'other', 'sent', 'ann')").sqlstate == "CT409"
    sql.one("select crontick.resolve_doubt('mail', 'k', 'sent', 'ann')")
    assert sql.refused("select crontick.resolve_doubt('mail', 'k', 'not_sent', 'ann')").sqlstate == "CT409"
