"""What operators read: jobs by page, one job whole, what died, waits, is in doubt or is paused."""

from datetime import timedelta

import pytest

from crontick.handler.operate import reads
from crontick.handler.operate.asked import (
    Asked,
    AtMost,
    ListBreakers,
    ListDead,
    ListDoubts,
    ListJobs,
    ListTicks,
    OneJob,
)
from crontick.handler.operate.refused import NotDone
from tests.operate.conftest import KINDS, Operated

pytestmark = pytest.mark.anyio


async def test_pages_go_on_below_the_last_id_until_nothing_is_left(operated: Operated) -> None:
    jobs = [await operated.enqueue("greet") for _ in range(5)]
    first = await reads.list_jobs(operated.conn, ListJobs(limit=2))
    assert ([job.id for job in first.jobs], first.below) == (jobs[:2:-1], jobs[3])
    second = await reads.list_jobs(operated.conn, ListJobs(limit=10, below=first.below))
    assert ([job.id for job in second.jobs], second.below) == (jobs[2::-1], None)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (ListJobs(status="succeeded"), 1),
        (ListJobs(status="dead"), 2),
        (ListJobs(status="queued"), 1),
        (ListJobs(kind="break_at_once"), 2),
        (ListJobs(queue="slow"), 1),
        (ListJobs(group="g"), 1),
        (ListJobs(error="DISK"), 1),
        (ListJobs(error="100%"), 0),
        (ListJobs(status="dead", kind="greet"), 0),
        (ListJobs(), 4),
    ],
)
async def test_jobs_are_found_by_what_they_are_like(operated: Operated, asked: ListJobs, found: int) -> None:
    await operated.enqueue("greet")
    await operated.dead("the disk is full", "no such user")
    await operated.enqueue("greet", queue="slow", group_key="g", run_at="2031-01-01T00:00Z")
    assert len((await reads.list_jobs(operated.conn, asked)).jobs) == found


async def test_jobs_are_found_by_when_they_were_enqueued(operated: Operated) -> None:
    early = await operated.enqueue("greet")
    await operated.later(3600)
    late = await operated.enqueue("greet")
    between = (await operated.job(late))["created_at"]
    moment = await operated.one("select %s::timestamptz", between)
    found = [
        [job.id for job in (await reads.list_jobs(operated.conn, asked)).jobs]
        for asked in (ListJobs(since=moment), ListJobs(until=moment))
    ]
    assert found == [[late], [early]]


async def test_a_search_looks_at_so_many_jobs_and_says_where_to_go_on(
    operated: Operated, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = [await operated.enqueue("greet", queue="slow"), *[await operated.enqueue("greet") for _ in range(4)]]
    monkeypatch.setattr(reads, "LOOK_AT", 3)
    first = await reads.list_jobs(operated.conn, ListJobs(queue="slow"))
    assert (first.jobs, first.below) == ([], jobs[2])
    second = await reads.list_jobs(operated.conn, ListJobs(queue="slow", below=first.below))
    assert ([job.id for job in second.jobs], second.below) == (jobs[:1], None)


async def test_a_job_is_read_whole(operated: Operated) -> None:
    [dead] = await operated.dead("it <b>broke</b>")
    job = await reads.read_job(operated.conn, OneJob(id=dead))
    [attempt] = job.attempts
    assert (attempt.outcome, attempt.error, attempt.trigger) == ("dead", "Permanent: it <b>broke</b>", "process_jobs")
    assert attempt.took is not None
    assert attempt.took >= timedelta(0)
    assert (bytes(job.payload), bytes(job.result)) == (b'{"why": "it <b>broke</b>"}', b"null")
    assert job.why == (await reads.explain_job(operated.conn, OneJob(id=dead))).why


@pytest.mark.parametrize("number", ["1e400", "9" * 400])
async def test_a_payload_that_python_cannot_hold_is_read_as_it_is(operated: Operated, number: str) -> None:
    job = await operated.enqueue("greet", f'{{"n": {number}}}')
    read = await reads.read_job(operated.conn, OneJob(id=job))
    assert len(bytes(read.payload)) > 400 or b"1e400" in bytes(read.payload)


async def test_what_is_secret_in_a_payload_is_hidden(operated: Operated) -> None:
    await operated.tick(*KINDS)
    job = await operated.enqueue("secretive", '{"token": "s3cr3t-s3cr3t", "user": "ada"}')
    read = await reads.read_job(operated.conn, OneJob(id=job))
    assert b"s3cr3t" not in bytes(read.payload)
    assert b"ada" in bytes(read.payload)


async def test_a_job_shows_the_marker_of_its_send(operated: Operated) -> None:
    job = await operated.enqueue("mail", '{"key": "receipt:42"}')
    await operated.tick(*KINDS)
    [marker] = (await reads.read_job(operated.conn, OneJob(id=job))).markers
    assert (marker.key, marker.state, marker.job) == ("receipt:42", "in_doubt", job)
    await operated.conn.execute("select crontick.resolve_doubt('mail', 'receipt:42', 'sent', 'ann')")
    [marker] = (await reads.read_job(operated.conn, OneJob(id=job))).markers
    assert marker.state == "sent"
    [doubt] = [await reads.list_doubts(operated.conn, ListDoubts())]
    assert doubt.doubts == []


async def test_a_job_that_is_not_there_is_told_so(operated: Operated) -> None:
    for read in (reads.read_job, reads.explain_job):
        with pytest.raises(NotDone, match="there is no job 7"):
            await read(operated.conn, OneJob(id=7))


async def test_dead_letters_are_grouped_by_their_error(operated: Operated) -> None:
    full = await operated.dead("disk 17 is full", "disk 18 is full")
    other = await operated.dead("no such user")
    told = await reads.list_dead_groups(operated.conn, Asked())
    assert [(group.jobs, group.latest) for group in told.groups] == [(2, full[1]), (1, other[0])]
    print_ = told.groups[0].fingerprint
    found = await reads.list_dead(operated.conn, ListDead(fingerprint=print_))
    assert {letter.id for letter in found.dead} == set(full)


async def test_dead_letters_go_on_below_one_that_was_resolved_meanwhile(operated: Operated) -> None:
    jobs = await operated.dead("a", "b", "c")
    first = await reads.list_dead(operated.conn, ListDead(limit=2))
    assert first.below is not None
    await operated.conn.execute("select crontick.ignore(%s, 'ann', 'known')", (first.below,))
    second = await reads.list_dead(operated.conn, ListDead(limit=2, below=first.below))
    assert {letter.id for page in (first, second) for letter in page.dead} == set(jobs)
    assert second.below is None


async def test_what_waits_is_paused_or_ticked_is_listed(operated: Operated) -> None:
    for _ in range(2):
        await operated.enqueue("greet", group_key="g", run_at=None)
    await operated.tick(*KINDS, limit=1)
    await operated.conn.execute("select crontick.pause('queue', 'slow', 'ann')")
    await operated.conn.execute("select crontick.set_endpoint('crm', 'https://crm.example/hooks')")
    await operated.conn.execute("select crontick.open_breaker('endpoint:crm', 'ann')")
    ticks = await reads.list_ticks(operated.conn, ListTicks(limit=1))
    assert (len(ticks.ticks), ticks.below) == (1, ticks.ticks[0].id)
    assert (await reads.list_ticks(operated.conn, ListTicks(below=ticks.below))).ticks == []
    assert [pause.name for pause in (await reads.list_pauses(operated.conn, Asked())).paused] == ["slow"]
    breakers = await reads.list_breakers(operated.conn, ListBreakers())
    assert [breaker.target for breaker in breakers.breakers] == ["endpoint:crm"]
    assert (await reads.list_limits(operated.conn, AtMost())).limits == []
    assert (await reads.list_groups(operated.conn, AtMost())).groups == []
    assert (await reads.list_schedules(operated.conn, Asked())).schedules == []
    overview = await reads.read_overview(operated.conn, Asked())
    assert (overview.state.environment, overview.state.open_breakers) == ("test", 1)
    assert [(work.status, work.jobs) for work in overview.work] == [("queued", 1)]
