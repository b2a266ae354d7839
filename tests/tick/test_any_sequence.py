"""Whatever happens in whatever order, no job is lost, none is settled twice, and the schema's rules hold."""

import json
import secrets
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

KNOWN = ["plain", "other"]
TABLES = """unfinished_jobs finished_jobs claims attempts markers group_calls unique_keys cancel_requests pauses
ticks audit_log"""


class Jobs(RuleBasedStateMachine):
    """The model knows which jobs were committed, and which claims this side still holds."""

    conn: psycopg.Connection[Any]

    def __init__(self) -> None:
        super().__init__()
        self.committed: set[int] = set()
        self.held: dict[int, int] = {}
        self.settled: dict[int, int] = {}
        self.opening: int | None = None
        tables = ", ".join(f"crontick.{table}" for table in TABLES.split())
        self.conn.execute(f"truncate {tables}".encode())
        self.conn.execute("update crontick.tick_slots set taken_until = '-infinity'")
        self.conn.execute("update crontick.test_clock set ahead = '0'")

    def rows(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        return self.conn.execute(text.encode(), values).fetchall()

    @rule(
        kind=st.sampled_from([*KNOWN, "unknown"]),
        group=st.sampled_from([None, None, "g", "h"]),
        unique=st.sampled_from([None, None, "u"]),
        delay=st.sampled_from([0, 0, 30]),
        priority=st.sampled_from([0, 5]),
    )
    def enqueue(self, kind: str, group: str | None, unique: str | None, delay: int, priority: int) -> None:
        [(job,)] = self.rows(
            "select crontick.enqueue(%s, run_at => crontick.now() + make_interval(secs => %s), group_key => %s,"
            " unique_key => %s, priority => %s)",
            kind, delay, group, unique, priority,
        )  # fmt: skip
        self.committed.add(job)

    @rule()
    def open(self) -> None:
        self.opening = secrets.randbits(62)
        self.rows(
            "select * from crontick.open_tick(%s, 2, 'test', '', '', 25, 40, 100, false, %s, '', null, '', '', '')",
            self.opening, KNOWN,
        )  # fmt: skip

    @precondition(lambda self: self.opening is not None)
    @rule(seats=st.integers(1, 4))
    def claim(self, seats: int) -> None:
        self.rows("select crontick.place()")
        claim = secrets.randbits(62)
        taken = self.rows(
            "select id from crontick.claim(%s, %s, %s, %s, 0, 40, %s, null, null, null, null, true, false)",
            self.opening, claim, seats, len(self.held), KNOWN,
        )  # fmt: skip
        assert len(taken) <= seats
        for (job,) in taken:
            self.held[job] = claim

    @precondition(lambda self: self.held)
    @rule(
        outcome=st.sampled_from(["succeeded", "failed", "dead", "snoozed", "handed_back", "cancelled", "plain"]),
        data=st.data(),
        twice=st.booleans(),
    )
    def settle(self, outcome: str, data: st.DataObject, twice: bool) -> None:  # noqa: FBT001 (hypothesis draws it)
        job = data.draw(st.sampled_from(sorted(self.held)))
        claim = self.held.pop(job)
        ended = self.rows("select count(*) from crontick.finished_jobs where id = %s", job)
        for _ in range(1 + twice):
            [(lost, held, _)] = self._settle(job, claim, outcome)
            assert held == []
        if not lost and outcome in ("succeeded", "plain", "dead", "cancelled") and ended == [(0,)]:
            assert job not in self.settled, "settled twice"
            self.settled[job] = claim

    def _settle(self, job: int, claim: int, outcome: str) -> list[tuple[Any, ...]]:
        if outcome == "plain":
            return self.rows(
                "select lost, held, already from crontick.settle(%s, %s::bigint[], %s::bigint[], null, null)",
                self.opening,
                [job],
                [claim],
            )
        said = {"id": job, "claim": claim, "outcome": outcome, "error": "e", "delay_seconds": 5, "began": True}
        ending = json.dumps([said])
        return self.rows(
            "select lost, held, already from crontick.settle(%s, '{}', '{}', %s::json, null)",
            self.opening,
            ending,
        )

    @rule()
    def crash(self) -> None:
        """Nobody holds anything any more; only the leases say that somebody did."""
        self.held.clear()

    @rule(seconds=st.sampled_from([1, 10, 60, 4000]))
    def wait(self, seconds: int) -> None:
        self.conn.execute("update crontick.test_clock set ahead = ahead + make_interval(secs => %s)", (seconds,))

    @precondition(lambda self: self.committed)
    @rule(act=st.sampled_from(["cancel", "run_now"]), data=st.data())
    def meddle(self, act: str, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(sorted(self.committed)))
        self.rows(f"select crontick.{act}(%s, 'test')", job)

    @rule()
    def requeue(self) -> None:
        for (job,) in self.rows("select id from crontick.dead_letters limit 1"):
            [(copy,)] = self.rows("select crontick.requeue(%s, 'test')", job)
            assert self.rows("select crontick.requeue(%s, 'test')", job) == [(copy,)]
            self.committed.add(copy)

    @rule(what=st.sampled_from([("queue", "default"), ("kind", "plain"), ("group", "g")]))
    def pause_or_resume(self, what: tuple[str, str]) -> None:
        paused = self.rows("select from crontick.paused where what = %s and name = %s", *what)
        self.rows(f"select crontick.{'resume' if paused else 'pause'}(%s, %s, 'test')", *what)

    @invariant()
    def no_job_is_lost_or_doubled(self) -> None:
        found = [row[0] for row in self.rows("select id from crontick.jobs")]
        assert sorted(found) == sorted(self.committed)

    @invariant()
    def a_group_has_one_head_and_runs_in_order(self) -> None:
        assert not self.rows(
            "select group_key from crontick.unfinished_jobs where group_key is not null and in_line"
            " and held_by is distinct from 'group' group by group_key having count(*) > 1"
        )
        assert not self.rows(
            "select from crontick.unfinished_jobs as r join crontick.unfinished_jobs as o using (group_key)"
            " where r.status = 'running' and o.status = 'running' and r.id <> o.id"
        )

    @invariant()
    def an_active_key_belongs_to_an_unfinished_job(self) -> None:
        assert not self.rows(
            "select from crontick.unique_keys as k where k.mode = 'active'"
            " and not exists (select from crontick.unfinished_jobs as j where j.id = k.job)"
        )

    @invariant()
    def what_runs_has_a_claim_that_can_be_rescued(self) -> None:
        assert not self.rows(
            "select from crontick.unfinished_jobs as j where j.status = 'running' and not exists"
            " (select from crontick.claims as c where c.claim = j.claim and j.id = any(c.job_ids))"
        )


@pytest.fixture
def machine(sync_conn: psycopg.Connection[Any]) -> type[Jobs]:
    sync_conn.execute("set client_min_messages = error")

    class Connected(Jobs):
        conn = sync_conn

    return Connected


def test_any_sequence_loses_no_job_and_settles_none_twice(machine: type[Jobs]) -> None:
    quick = settings(max_examples=25, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(machine, settings=quick)
