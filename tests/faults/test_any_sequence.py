"""Whatever the order of enqueues, claims, endings, crashes and operators' acts: nothing is lost or done twice."""

import random
from typing import Any, ClassVar

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from tests.faults.protocol import HandTick

KINDS = ("mail", "note")
UNKNOWN = "later"
"""A kind that no tick knows before the last ones: its jobs are parked, and none of them is lost."""
MARKERS = {"mail": {"field": "to", "in_doubt": "park"}}
OUTCOMES: dict[str, dict[str, Any]] = {
    "succeeded": {"result": {"ok": True}},
    "failed": {"error": "it broke", "delay_seconds": 30},
    "snoozed": {"delay_seconds": 30},
    "handed_back": {"began": True, "delay_seconds": 0},
    "dead": {"error": "it broke"},
    "cancelled": {"error": "asked to stop"},
}
ENDS = {"succeeded", "dead", "cancelled"}
TABLES = (
    "unfinished_jobs, finished_jobs, claims, ticks, attempts, markers, group_calls, unique_keys, cancel_requests,"
    " pauses, audit_log, successes"
)
CLEAN = "; ".join(
    [
        *(f"delete from crontick.{table}" for table in TABLES.split(", ")),
        "update crontick.tick_slots set opening = null, taken_until = '-infinity'",
        "update crontick.test_clock set ahead = '0'",
    ]
)
BROKEN = {
    "a running job has one claim, of its own number": """
        select j.id from crontick.unfinished_jobs as j where j.status = 'running'
        and 1 <> (select count(*) from crontick.claims as c where j.id = any(c.job_ids) and c.claim = j.claim)""",
    "a group has one head": """
        select group_digest from crontick.unfinished_jobs where in_line and held_by is distinct from 'group'
        group by 1 having count(*) > 1""",
    "a group that waits has a head or a call": """
        select j.id from crontick.unfinished_jobs as j where j.held_by = 'group'
        and not exists (select from crontick.group_calls as c where c.group_digest = j.group_digest)
        and not exists (
            select from crontick.unfinished_jobs as h
            where h.group_digest = j.group_digest and h.in_line and h.held_by is distinct from 'group')""",
    "what succeeded is found by retention": """
        select f.id from crontick.finished_jobs as f where f.status = 'succeeded'
        and not exists (select from crontick.successes as s where f.id = any(s.job_ids))""",
    "an active key belongs to one unfinished job": """
        select key from crontick.unique_keys as k
        where not exists (select from crontick.unfinished_jobs as j where j.id = k.job and j.unique_key = k.key)""",
    "an unfinished job with a key has it": """
        select j.id from crontick.unfinished_jobs as j where j.unique_key is not null
        and not exists (select from crontick.unique_keys as k where k.job = j.id)""",
    "a reserved marker belongs to a job that runs under that claim": """
        select key from crontick.markers as m where m.state = 'reserved' and not exists (
            select from crontick.unfinished_jobs as j
            where j.id = m.job and j.claim = m.claim and j.status = 'running')""",
    "who is asked to stop has not ended": """
        select r.job from crontick.cancel_requests as r
        where not exists (select from crontick.unfinished_jobs as j where j.id = r.job and j.status = 'running')""",
    "what is not held can be found": """
        select id from crontick.unfinished_jobs
        where (held_by is null and due_at <> run_at) or (held_by is not null and due_at < 'infinity')""",
}
INVARIANTS = " union all ".join(f"(select '{name}', ({text} limit 1)::text)" for name, text in BROKEN.items())

ticks = st.runner().flatmap(lambda machine: st.sampled_from(machine.ticks))
jobs = st.runner().flatmap(lambda machine: st.sampled_from(sorted(machine.jobs)))


class Queue(RuleBasedStateMachine):
    """The functions of the tick and of the operators, on one connection."""

    conn: ClassVar[psycopg.Connection[Any]]

    @initialize()
    def empty(self) -> None:
        self.conn.execute(CLEAN.encode())
        self.jobs: set[int] = set()
        self.in_line: dict[int, str] = {}
        """Grouped jobs that joined the line when they were enqueued, whose order is therefore that of their ids."""
        self.ticks: list[HandTick] = []
        self.stale: list[tuple[HandTick, int, int]] = []
        self.ended: set[int] = set()

    def one(self, text: str, *values: Any) -> Any:
        row = self.conn.execute(text.encode(), values).fetchone()
        return row and row[0]

    def job(self, job: int) -> tuple[Any, ...] | None:
        return self.conn.execute(
            "select status, claim, held_by from crontick.unfinished_jobs where id = %s", (job,)
        ).fetchone()

    @rule(
        kind=st.sampled_from([*KINDS, *KINDS, UNKNOWN]),
        priority=st.sampled_from([0, 0, 5]),
        wait=st.sampled_from([0, 0, 45]),
        group=st.sampled_from([None, "g", "g", "h"]),
        key=st.sampled_from([None, None, "k"]),
        to=st.sampled_from("ab"),
        expires=st.booleans(),
    )
    def enqueue(  # noqa: PLR0913 (hypothesis draws each)
        self, kind: str, priority: int, wait: int, group: str | None, key: str | None, to: str, *, expires: bool
    ) -> None:
        before = self.one("select id from crontick.unfinished_jobs where kind = %s and unique_key = %s", kind, key)
        job = self.one(
            "select crontick.enqueue(%s, jsonb_build_object('to', %s::text), group_key => %s, unique_key => %s,"
            " priority => %s, run_at => crontick.now() + make_interval(secs => %s),"
            " expires_at => case when %s then crontick.now() + interval '90 s' end)",
            *(kind, to, group, key, priority, wait, expires),
        )
        if before is not None:
            assert job == before
            return
        assert job not in self.jobs
        self.jobs.add(job)
        if group is not None and not wait:
            self.in_line[job] = group

    @rule()
    def roll_back(self) -> None:
        with self.conn.transaction(force_rollback=True):
            self.one("select crontick.enqueue('note', group_key => 'g', unique_key => 'k')")

    @rule(seats=st.integers(0, 2))
    @precondition(lambda self: len(self.ticks) < 4)
    def open(self, seats: int) -> None:
        tick = HandTick(self.conn, *KINDS, markers=MARKERS)
        assert tick.ran or self.one("select exists (select from crontick.pauses where what = 'all')")
        self.ticks.append(tick)
        self.take(tick, seats)

    @rule(tick=ticks, seats=st.integers(0, 2))
    @precondition(lambda self: self.ticks)
    def claim(self, tick: HandTick, seats: int) -> None:
        self.take(tick, seats)

    def take(self, tick: HandTick, seats: int, *, only: list[int] | None = None) -> None:
        self.every_job_is_in_one_place()  # the opening's rescue may have ended some
        with self.conn.transaction():
            tick.place()
            taken = tick.claim(seats, only=only)
        assert len(taken) <= seats
        assert tick.known.count(UNKNOWN) or not self.one(
            "select 1 from crontick.unfinished_jobs where id = any(%s) and kind = %s", taken, UNKNOWN
        )
        assert not self.ended & set(taken)
        for job in taken:
            found = self.job(job)
            assert found is not None
            assert found[:2] == ("running", tick.running[job])
            assert found[2] in (None, "suspect")
            before = [other for other in self.in_line if other < job and self.in_line[other] == self.in_line.get(job)]
            assert not set(before) - self.ended, f"{job} overtook {before}"

    @rule(
        tick=ticks,
        outcome=st.sampled_from(sorted(OUTCOMES)),
        pick=st.randoms(use_true_random=False),
        plain=st.booleans(),
    )
    @precondition(lambda self: self.ticks)
    def settle(self, tick: HandTick, outcome: str, pick: random.Random, *, plain: bool) -> None:
        if not tick.running:
            return
        job = pick.choice(sorted(tick.running))
        self.end(tick, job, tick.running[job], outcome, plain=plain)

    def end(self, tick: HandTick, job: int, claim: int, outcome: str, *, plain: bool = False) -> None:
        """Settled if it runs under that claim, lost if not; said again, it is known, and changes nothing."""
        found = self.job(job)
        current = found is not None and found[:2] == ("running", claim)
        # Where a marker was reserved there is more to say than that the attempt succeeded.
        plain = plain and self.one("select kind from crontick.jobs where id = %s", job) not in MARKERS
        said: Any = job if plain and outcome == "succeeded" else {"id": job, "outcome": outcome, **OUTCOMES[outcome]}
        lost, held, already = tick.settle(said, claim=claim)
        if job in tick.cancelled and current:
            outcome = "cancelled"
        assert (lost, held, already) == (([] if current else [job]), [], [])
        if current:
            self.ended |= {job} if outcome in ENDS else set()
            counts = "select count(*) from crontick.attempts"
            before = self.one(counts)
            assert tick.settle(said, claim=claim) == ([], [], [job])
            assert self.one(counts) == before

    @rule(tick=ticks, pick=st.randoms(use_true_random=False))
    @precondition(lambda self: self.ticks)
    def complete(self, tick: HandTick, pick: random.Random) -> None:
        if not tick.running:
            return
        job = pick.choice(sorted(tick.running))
        claim = tick.running.pop(job)
        found = self.job(job)
        complete = "select crontick.complete(%s, %s, '{}')"
        if found is not None and found[:2] == ("running", claim):
            self.one(complete, job, claim)
            self.ended.add(job)
        with pytest.raises(psycopg.Error, match="is not current"):
            self.one(complete, job, claim)

    @rule(tick=ticks)
    @precondition(lambda self: self.ticks)
    def close(self, tick: HandTick) -> None:
        if tick.close():
            self.ticks.remove(tick)

    @rule(tick=ticks, found_out=st.booleans())
    @precondition(lambda self: self.ticks)
    def crash(self, tick: HandTick, *, found_out: bool) -> None:
        """Or freeze. When its leases have run out, another tick finds that out, and may have its jobs."""
        self.ticks.remove(tick)
        self.stale += [(tick, job, claim) for job, claim in tick.running.items()]
        if found_out:
            self.later(4000)
            another = HandTick(self.conn, *KINDS, markers=MARKERS)
            self.take(another, 1, only=list(tick.running))
            self.ticks.append(another)
            self.stale.sort(key=lambda held: held[1] in another.running)  # whose job has another holder wakes first

    @rule(outcome=st.sampled_from(sorted(OUTCOMES)))
    @precondition(lambda self: self.stale)
    def wake(self, outcome: str) -> None:
        """A tick that was taken for dead says how its job ended."""
        tick, job, claim = self.stale.pop()
        found = self.job(job)
        current = found is not None and found[:2] == ("running", claim)
        before = self.one("select count(*) from crontick.finished_jobs")
        lost, held, _ = tick.settle({"id": job, "outcome": outcome, **OUTCOMES[outcome]}, claim=claim)
        assert not held
        if current:
            assert not lost
            outcome = "cancelled" if job in tick.cancelled else outcome
            self.ended |= {job} if outcome in ENDS else set()
        else:
            assert self.one("select count(*) from crontick.finished_jobs") == before
            assert self.job(job) == found

    @rule(seconds=st.sampled_from([1, 31, 60, 4000]))
    def later(self, seconds: int) -> None:
        self.one("update crontick.test_clock set ahead = ahead + make_interval(secs => %s) returning 1", seconds)

    @rule(job=jobs)
    @precondition(lambda self: self.jobs)
    def cancel(self, job: int) -> None:
        status = self.one("select crontick.cancel(%s, 'me')", job)
        if status == "cancelled":
            self.ended.add(job)

    @rule(job=jobs)
    @precondition(lambda self: self.jobs)
    def run_now(self, job: int) -> None:
        before = self.one("select status from crontick.jobs where id = %s", job)
        assert self.one("select crontick.run_now(%s, 'me')", job) == before

    @rule(job=jobs)
    @precondition(lambda self: self.jobs)
    def requeue(self, job: int) -> None:
        dead = self.one("select status = 'dead' from crontick.finished_jobs where id = %s", job)
        if not dead:
            return
        doubt = self.one("select true from crontick.markers where job = %s and state = 'in_doubt'", job)
        again = self.one("select requeued_as from crontick.finished_jobs where id = %s", job)
        if doubt and again is None:
            with pytest.raises(psycopg.Error, match="dead in doubt"):
                self.one("select crontick.requeue(%s, 'me')", job)
            return
        copy = self.one("select crontick.requeue(%s, 'me')", job)
        assert again in (None, copy)
        self.jobs.add(copy)
        group = self.one("select group_key from crontick.jobs where id = %s", copy)
        if group is not None and again is None:
            self.in_line[copy] = group

    @rule(what=st.sampled_from([("kind", "mail"), ("queue", "default"), ("group", "g"), ("all", "")]))
    def pause_or_resume(self, what: tuple[str, str]) -> None:
        paused = self.one("select true from crontick.pauses where what = %s and name = %s", *what)
        self.one(f"select crontick.{'resume' if paused else 'pause'}(%s, %s, 'me')", *what)

    @invariant()
    def nothing_is_broken(self) -> None:
        rows = self.conn.execute(INVARIANTS.encode()).fetchall()
        assert [row for row in rows if row[1] is not None] == []

    @invariant()
    def every_job_is_in_one_place(self) -> None:
        rows = self.conn.execute(
            b"select id, false from crontick.unfinished_jobs union all select id, true from crontick.finished_jobs"
        ).fetchall()
        assert sorted(job for job, _ in rows) == sorted(self.jobs)
        finished = {job for job, done in rows if done}
        assert self.ended <= finished
        self.ended = finished  # an expiry, a rescue: ended by the database itself

    def teardown(self) -> None:
        """With everything resumed and time enough, every job comes to its end."""
        if not getattr(self, "jobs", None):
            return
        self.conn.execute(b"delete from crontick.pauses")
        for _ in range(3 * len(self.jobs) + 3):
            self.one("update crontick.test_clock set ahead = ahead + interval '1 hour' returning 1")
            tick = HandTick(self.conn, *KINDS, UNKNOWN, markers=MARKERS)
            self.conn.execute(b"delete from crontick.pauses")
            self.take(tick, 50)
            for job in list(tick.running):
                self.end(tick, job, tick.running[job], "succeeded")
            tick.close()
            self.every_job_is_in_one_place()
            self.nothing_is_broken()
        assert self.one("select count(*) from crontick.unfinished_jobs") == 0


@pytest.fixture
def machine(sync_conn: psycopg.Connection[Any]) -> type[Queue]:
    sync_conn.execute(b"set client_min_messages = error")
    Queue.conn = sync_conn
    return Queue


def test_any_sequence_keeps_the_rules(machine: type[Queue]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=80, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
