"""What operators decide, job by job and in bulk with the count that they confirmed."""

import asyncio
from datetime import timedelta
from itertools import pairwise
from typing import Any

import msgspec
import psycopg
import pytest

from crontick.handler.operate import actions
from crontick.handler.operate.asked import ActOnJob, ActOnMany, IgnoreJob, Matching, RequeueJob, RequeueMany
from crontick.handler.operate.refused import NotDone
from tests.operate.conftest import KINDS, Operated
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio
EDITED = msgspec.Raw(b'{"why": "mended"}')
AUDIT = "select action, by, reason from crontick.audit order by id"
FAR = "2031-01-01T00:00Z"


async def is_blocked(other: psycopg.AsyncConnection[Any]) -> bool:
    """Whether somebody waits for what that connection holds."""
    blocked = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    return bool((await (await other.execute(blocked.encode())).fetchone() or [0])[0])


def requeueing(**fields: Any) -> RequeueMany:
    return RequeueMany(**{"matching": Matching(), "by": "ann", **fields})


def many(**fields: Any) -> ActOnMany:
    return ActOnMany(**{"matching": Matching(), "by": "ann", "reason": "known", **fields})


async def test_one_job_is_requeued_with_an_edited_payload(operated: Operated) -> None:
    [dead] = await operated.dead("it broke")
    asked = RequeueJob(id=dead, by="ann", reason="mended", payload=EDITED)
    told = await actions.requeue(operated.conn, asked)
    assert (await operated.job(told.requeued_as))["payload"] == {"why": "mended"}
    again = await actions.requeue(operated.conn, asked)
    assert (told.before, again) == (False, msgspec.structs.replace(told, before=True))
    assert await operated.rows(AUDIT) == [("requeue", "ann", "mended")]


async def test_what_is_hidden_in_an_edited_payload_keeps_what_it_had(operated: Operated) -> None:
    await operated.tick(*KINDS)
    job = await operated.enqueue("secretive", '{"token": "s3cr3t-s3cr3t", "user": "ada"}')
    hidden = msgspec.Raw('{"token": "•••", "user": "bob"}'.encode())
    with pytest.raises(NotDone, match="CRONTICK_ENCRYPTION_KEYS is not set"):
        await actions.requeue(operated.conn, RequeueJob(id=job, by="ann", payload=hidden))


async def test_each_decision_answers_what_is_so_afterwards(operated: Operated) -> None:
    first, second = await operated.dead("a", "b")
    later = await operated.enqueue("greet", run_at=FAR)
    assert (await actions.ignore(operated.conn, IgnoreJob(id=first, by="ann", reason="ok"))).resolution == "ignored"
    assert (await actions.run_now(operated.conn, ActOnJob(id=later, by="ann"))).status == "queued"
    assert (await actions.cancel(operated.conn, ActOnJob(id=later, by="ann"))).status == "cancelled"
    assert (await actions.cancel(operated.conn, ActOnJob(id=second, by="ann"))).status == "dead"


@pytest.mark.parametrize(
    ("act", "asked", "why"),
    [
        (actions.requeue, RequeueJob(id=7, by="ann"), "missing"),
        (actions.requeue, RequeueJob(id=7, by="ann", payload=EDITED), "missing"),
        (actions.ignore, IgnoreJob(id=7, by="ann", reason="ok"), "missing"),
        (actions.cancel, ActOnJob(id=7, by="ann"), "missing"),
        (actions.run_now, ActOnJob(id=7, by="ann"), "missing"),
        (actions.cancel, ActOnJob(id=7, by=""), "out of range"),
    ],
)
async def test_a_refusal_says_of_what_sort_it_is(operated: Operated, act: Any, asked: Any, why: str) -> None:
    with pytest.raises(NotDone) as refused:
        await act(operated.conn, asked)
    assert refused.value.why == why


async def test_without_a_confirmed_count_the_jobs_are_only_counted(operated: Operated) -> None:
    await operated.dead("a", "b")
    assert await actions.requeue_many(operated.conn, requeueing()) == actions.Many(matched=2, done=0)
    assert await operated.counts() == {"dead": 2}


async def test_when_more_match_than_were_confirmed_nothing_is_done(operated: Operated) -> None:
    await operated.dead("a", "b", "c")
    with pytest.raises(NotDone, match="3 jobs match, and 2 were confirmed: nothing was done") as refused:
        await actions.requeue_many(operated.conn, requeueing(confirmed=2))
    assert refused.value.why == "conflict"
    assert await operated.counts() == {"dead": 3}


async def test_what_was_confirmed_is_requeued_part_by_part_one_after_another(operated: Operated) -> None:
    await operated.dead("a", "b", "c")
    first = await actions.requeue_many(operated.conn, requeueing(confirmed=3, limit=2, per_minute=1))
    assert (first.matched, first.done) == (3, 2)
    asked = requeueing(confirmed=1, per_minute=1, run_at=first.next_at)
    assert (await actions.requeue_many(operated.conn, asked)).done == 1
    times = await operated.rows("select run_at from crontick.unfinished_jobs order by run_at")
    gaps = {later[0] - earlier[0] for earlier, later in pairwise(times)}
    assert gaps == {timedelta(minutes=1)}


async def test_a_bulk_action_that_is_repeated_finds_nothing_left(operated: Operated) -> None:
    await operated.dead("a", "b")
    asked = requeueing(confirmed=2)
    await actions.requeue_many(operated.conn, asked)
    assert (await actions.requeue_many(operated.conn, asked)).done == 0
    assert await operated.counts() == {"dead": 2, "queued": 2}


@pytest.mark.parametrize(
    ("matching", "count"),
    [
        (Matching(kind="break_at_once"), 2),
        (Matching(kind="greet"), 0),
        (Matching(queue="slow"), 0),
        (Matching(error="DISK"), 1),
        (Matching(status="failed"), 0),
        (Matching(group="g"), 0),
        (Matching(fingerprint="none of them"), 0),
    ],
)
async def test_only_what_matches_is_counted(operated: Operated, matching: Matching, count: int) -> None:
    await operated.dead("the disk is full", "no such user")
    assert (await actions.ignore_many(operated.conn, many(matching=matching))).matched == count


async def test_some_dead_letters_are_chosen_by_their_ids(operated: Operated) -> None:
    first, _second, third = await operated.dead("a", "b", "c")
    asked = many(matching=Matching(ids=[first, third]), confirmed=2)
    assert (await actions.ignore_many(operated.conn, asked)).done == 2
    resolutions = await operated.rows("select resolution from crontick.jobs order by id")
    assert resolutions == [("ignored",), (None,), ("ignored",)]


async def test_what_is_dead_in_doubt_is_left_to_be_decided_alone(operated: Operated) -> None:
    await operated.enqueue("mail", '{"key": "a"}')
    await operated.tick(*KINDS)
    assert (await actions.requeue_many(operated.conn, requeueing(confirmed=1))).matched == 0
    assert await operated.counts() == {"dead": 1}


async def test_many_jobs_are_cancelled_or_hurried(operated: Operated) -> None:
    for _ in range(3):
        await operated.enqueue("greet", run_at=FAR)
    assert (await actions.run_many_now(operated.conn, many(confirmed=3))).done == 3
    assert (await actions.run_many_now(operated.conn, many(confirmed=3))).matched == 0  # they are due
    assert (await actions.cancel_many(operated.conn, many(confirmed=3, limit=2))).done == 2
    assert await operated.counts() == {"cancelled": 2, "queued": 1}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("'cancel', 'ann', null, '{\"kidn\": \"x\"}'", 'jobs are not chosen by "kidn"'),
        ("'ignore', 'ann', null, '{}'", "ignoring jobs needs a reason"),
        ("'delete', 'ann', null, '{}'", "not 'delete'"),
        ("'cancel', '', null, '{}'", '"by" has 1 to 128 characters'),
    ],
)
async def test_a_bulk_action_that_is_spelt_wrongly_is_refused(operated: Operated, call: str, said: str) -> None:
    with pytest.raises(psycopg.Error, match=said):
        await operated.conn.execute(f"select * from crontick.act_on_many({call})".encode())


async def test_who_requeues_a_job_second_in_this_moment_is_told_so(operated: Operated) -> None:
    [dead] = await operated.dead("a")
    async with await psycopg.AsyncConnection.connect(operated.url) as other, other.transaction():
        await other.execute("select crontick.requeue(%s, 'bob')", (dead,))
        waiting = asyncio.create_task(actions.requeue(operated.conn, RequeueJob(id=dead, by="ann", payload=EDITED)))
        await async_until(lambda: is_blocked(other))
    assert (await waiting).before
    assert str(await waiting).endswith("(queued); nothing was done")


async def test_one_that_another_person_resolves_in_this_moment_is_left_to_them(operated: Operated) -> None:
    first, second = await operated.dead("a", "b")
    async with await psycopg.AsyncConnection.connect(operated.url) as other, other.transaction():
        await other.execute("select crontick.ignore(%s, 'bob', 'mine')", (first,))
        waiting = asyncio.create_task(actions.ignore_many(operated.conn, many(confirmed=2)))
        await async_until(lambda: is_blocked(other))
    assert (await waiting).done == 1
    assert await operated.rows("select id, resolved_by from crontick.jobs order by id") == [
        (first, "bob"),
        (second, "ann"),
    ]
