"""Unique keys between two open transactions: whatever commits first, no job is doubled, lost or given away (P26)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from tests.faults.protocol import HandTick
from tests.worlds.waiting import until

ENQUEUE = "select crontick.enqueue('step', '{\"n\": 1}', unique_key => 'k', unique_for => %s)"
REPLACE = "select crontick.enqueue('step', '{\"n\": 2}', unique_key => 'k', unique_for => %s, on_conflict => 'replace')"
PRUNE = "select crontick.prune('{1,1,1}', crontick.now())"
Conn = psycopg.Connection[Any]


@pytest.fixture
def user(database: str) -> Iterator[Conn]:
    """An app's connection, whose transaction ends when the test says so."""
    with psycopg.connect(database) as conn:
        yield conn


@pytest.fixture
def ticking(database: str) -> Iterator[Conn]:
    """A tick's connection, the same."""
    with psycopg.connect(database, options="-c statement_timeout=30s") as conn:
        yield conn


def one(conn: Conn, text: str, *values: object) -> Any:
    row = conn.execute(text.encode(), values).fetchone()
    return row[0] if row else None


@contextmanager
def waiting(database: str, holder: Conn, text: str, *values: object) -> Iterator[list[Any]]:
    """The statement runs in a transaction of its own and waits for the holder, which the body then ends."""
    answers: list[Any] = []

    def ask() -> None:
        with psycopg.connect(database, autocommit=True) as conn:
            answers.append(one(conn, text, *values))

    other = threading.Thread(target=ask)
    other.start()
    blocked = "select exists (select from pg_stat_activity where %s = any(pg_blocking_pids(pid)))"
    try:
        with psycopg.connect(database, autocommit=True) as watcher:
            until(lambda: one(watcher, blocked, holder.info.backend_pid), seconds=30)
        yield answers
    finally:
        holder.rollback()
        other.join(30)


def payload(conn: Conn, job: int) -> int:
    return int(one(conn, "select (payload ->> 'n')::int from crontick.jobs where id = %s", job))


def test_a_replaced_job_is_claimed_after_its_transaction_alone_and_with_what_that_wrote(
    sync_conn: Conn, user: Conn, ticking: Conn
) -> None:
    job = one(sync_conn, ENQUEUE, "active")
    assert one(user, REPLACE, "active") == job
    tick = HandTick(ticking, "step")
    assert tick.claim() == []
    ticking.commit()
    user.commit()
    assert tick.claim() == [job]
    assert payload(ticking, job) == 2


@pytest.mark.parametrize(("unique_for", "made"), [("active", 0), ("waiting", 1)])
@pytest.mark.parametrize("when", ["the claim has freed its key", "the claim has only its row"])
def test_a_replace_that_meets_the_claim_of_its_job_loses_no_payload_that_was_to_wait(
    sync_conn: Conn, ticking: Conn, database: str, unique_for: str, made: int, when: str
) -> None:
    job = one(sync_conn, ENQUEUE, unique_for)
    tick = HandTick(ticking, "step")
    ticking.commit()
    first = when == "the claim has freed its key"
    assert tick.claim() == [job] if first else one(ticking, "select id from crontick.unfinished_jobs for update") == job
    with waiting(database, ticking, REPLACE, unique_for) as answers:
        assert first or tick.claim() == [job]
        ticking.commit()
    assert one(sync_conn, "select count(*) from crontick.jobs") == 1 + made
    assert (payload(sync_conn, job), payload(sync_conn, answers[0])) == (1, 1 + made)


@pytest.mark.parametrize("ends", ["commit", "rollback"])
def test_an_enqueue_that_meets_the_settle_of_its_key_waits_and_makes_a_job_if_it_ended(
    sync_conn: Conn, ticking: Conn, database: str, ends: str
) -> None:
    job = one(sync_conn, ENQUEUE, "active")
    tick = HandTick(ticking, "step")
    assert tick.claim() == [job]
    ticking.commit()
    tick.settle(job)
    with waiting(database, ticking, ENQUEUE, "active") as answers:
        getattr(ticking, ends)()
    assert (answers == [job]) is (ends == "rollback")


def ended(conn: Conn) -> int:
    """A job whose key for an hour has ended, and is there still."""
    job = one(conn, ENQUEUE, "1 hour")
    conn.execute("update crontick.test_clock set ahead = ahead + interval '61 minutes'")
    return int(job)


@pytest.mark.parametrize("ends", ["commit", "rollback"])
def test_an_enqueue_that_meets_the_prune_of_its_ended_key_makes_a_job(
    sync_conn: Conn, ticking: Conn, database: str, ends: str
) -> None:
    first = ended(sync_conn)
    one(ticking, PRUNE)
    with waiting(database, ticking, ENQUEUE, "1 hour") as answers:
        getattr(ticking, ends)()
    assert answers != [first]
    assert one(sync_conn, "select array_agg(job) from crontick.unique_keys") == answers


def test_a_prune_leaves_an_ended_key_that_somebody_is_taking(sync_conn: Conn, user: Conn) -> None:
    ended(sync_conn)
    job = one(user, ENQUEUE, "1 hour")
    sync_conn.execute("set lock_timeout = '1ms'")
    one(sync_conn, PRUNE)
    user.commit()
    assert one(sync_conn, ENQUEUE, "1 hour") == job


def test_a_key_that_ended_is_taken_once(sync_conn: Conn, user: Conn, database: str) -> None:
    ended(sync_conn)
    job = one(user, ENQUEUE, "1 hour")
    with waiting(database, user, ENQUEUE, "1 hour") as answers:
        user.commit()
    assert answers == [job]


@pytest.mark.parametrize("how", [ENQUEUE, REPLACE])
def test_a_key_that_somebody_took_since_a_snapshot_is_a_serialisation_failure_and_no_second_job(
    sync_conn: Conn, user: Conn, how: str
) -> None:
    user.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    user.execute("select from crontick.unfinished_jobs")
    one(sync_conn, ENQUEUE, "active")
    with pytest.raises(psycopg.errors.SerializationFailure):
        user.execute(how.encode(), ["active"])


def test_the_child_of_a_parent_that_is_settled_waits_for_nobody_and_is_not_lost(
    sync_conn: Conn, user: Conn, ticking: Conn
) -> None:
    parent, other = (one(sync_conn, "select crontick.enqueue('step')") for _ in "ab")
    tick = HandTick(ticking, "step")
    assert tick.claim() == [parent, other]
    ticking.commit()
    held = one(user, ENQUEUE, "active")
    child: dict[str, object] = {"kind": "step", "payload": {}}
    ending = {"id": parent, "outcome": "succeeded", "children": [child, {**child, "unique_key": "k"}]}
    assert tick.settle(ending, {"id": other, "outcome": "succeeded", "children": [child]}) == ([], [parent], [])
    assert one(ticking, "show lock_timeout") == "0"
    ticking.commit()
    assert one(sync_conn, "select count(*) from crontick.unfinished_jobs where id <> %s", parent) == 1
    user.commit()
    assert tick.settle(ending) == ([], [], [])
    ticking.commit()
    assert one(sync_conn, "select count(*) from crontick.unfinished_jobs where id <> %s", held) == 2


def test_a_job_may_enqueue_its_successor_under_its_own_key(sync_conn: Conn) -> None:
    job = one(sync_conn, ENQUEUE, "active")
    tick = HandTick(sync_conn, "step")
    assert tick.claim() == [job]
    tick.settle({"id": job, "outcome": "succeeded", "children": [{"kind": "step", "payload": {}, "unique_key": "k"}]})
    [successor] = one(sync_conn, "select array_agg(id) from crontick.unfinished_jobs")
    assert one(sync_conn, ENQUEUE, "active") == successor
