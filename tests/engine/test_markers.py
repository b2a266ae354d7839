"""Markers: sent once, and where nobody can know, the doubt is kept until somebody decides it (P20-P22)."""

import asyncio
from typing import Any, Literal

import httpx
import pytest

from crontick.jobs import Cancel, Context, Kind, Permanent, Retry, Snooze, kind
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio
Sent = list[Any]


def mailing(sent: Sent, *, in_doubt: Literal["park", "resend", "skip"] = "park", **options: Any) -> Kind[Any]:
    """A kind whose marker is the payload's field ``key``; ``raise`` says how a send goes wrong."""

    @kind("mail", marker="key", in_doubt=in_doubt, **options)
    async def mail(payload: dict[str, Any], ctx: Context) -> Any:
        async with ctx.once() as mark:
            if not mark.sent:
                if payload.get("raise") and ctx.attempt == 1:
                    raise RAISED[payload["raise"]]
                sent.append(payload["key"])
                mark.provider, mark.message_id = "smtp", f"<{len(sent)}@x>"
        return payload.get("answer")

    return mail


REQUEST = httpx.Request("POST", "https://crm.example")
RAISED: dict[str, Exception] = {
    "ordinary": ValueError("?"),
    "read timeout": httpx.ReadTimeout("slow", request=REQUEST),
    "lost after writing": httpx.RemoteProtocolError("gone", request=REQUEST),
    "no connection": httpx.ConnectError("refused", request=REQUEST),
    "an answer that says no": httpx.HTTPStatusError("503", request=REQUEST, response=httpx.Response(503)),
    "retry": Retry("later"),
    "snooze": Snooze(1),
    "permanent": Permanent("no such address"),
    "cancel": Cancel("gone"),
}


async def markers(world: World) -> list[tuple[Any, ...]]:
    return await world.rows("select key, state from crontick.markers order by key")


async def test_what_was_sent_is_marked_with_what_the_provider_said(world: World) -> None:
    sent: Sent = []
    job = await mailing(sent).enqueue(world.conn, {"key": "k"})
    await world.tick(mailing(sent))
    assert await world.rows("select key, state, job, provider, provider_message_id from crontick.markers") == [
        ("k", "sent", job, "smtp", "<1@x>")
    ]
    assert await world.rows("select outcome, provider, provider_message_id from crontick.attempts") == [
        ("succeeded", "smtp", "<1@x>")
    ]


async def test_a_second_job_with_the_key_is_a_duplicate_and_sends_nothing(world: World) -> None:
    sent: Sent = []
    mail = mailing(sent)
    first = await mail.enqueue(world.conn, {"key": "k"})
    await world.tick(mail)
    second = await mail.enqueue(world.conn, {"key": "k"})
    summary = await world.tick(mail)
    told = await world.job(second)
    assert (summary.succeeded, summary.duplicates, sent) == (1, 1, ["k"])
    assert (told["status"], told["last_error"]) == ("succeeded", f"sent before by job {first}")


async def test_two_jobs_with_one_key_in_one_tick_send_once(world: World) -> None:
    sent: Sent = []
    mail = mailing(sent)
    await mail.enqueue_many(world.conn, [{"key": "k"}] * 2)
    summary = await world.tick(mail)
    assert (summary.snoozed, sent) == (1, ["k"])
    await world.later(60)
    await world.tick(mail)
    assert (sent, await world.counts()) == (["k"], {"succeeded": 2})


async def test_a_live_reservation_of_another_claim_is_waited_for_to_the_end_of_its_lease(world: World) -> None:
    sent: Sent = []
    mail = mailing(sent)
    await world.tick(mail)
    other = "insert into crontick.markers values ('mail', sha256('k'), 'k', 'reserved', 99, 77, now())"
    await world.rows(other)
    await world.rows("insert into crontick.claims values (77, 1, crontick.now() + interval '30 s', true, null, '{99}')")
    job = await mail.enqueue(world.conn, {"key": "k"})
    summary = await world.tick(mail)
    assert (summary.snoozed, sent, 25 < await world.delay(job) <= 30) == (1, [], True)


@pytest.mark.parametrize("how", ["ordinary", "read timeout", "lost after writing"])
async def test_left_by_an_error_that_may_have_come_after_the_send_it_is_dead_in_doubt(world: World, how: str) -> None:
    sent: Sent = []
    mail = mailing(sent)
    job = await mail.enqueue(world.conn, {"key": "k", "raise": how})
    summary = await world.tick(mail)
    assert (summary.dead, await world.status(job), await markers(world)) == (1, ["dead"], [("k", "in_doubt")])
    assert (await world.job(job))["last_error"].startswith('in doubt: nobody knows whether "k" was sent')
    copy = await world.one("select crontick.resolve_doubt('mail', 'k', 'not_sent', 'ann')")
    await world.rows("update crontick.unfinished_jobs set attempt = 1 where id = %s", copy)
    await world.tick(mail)
    assert (sent, await markers(world)) == (["k"], [("k", "sent")])


async def test_decided_as_sent_nothing_is_sent_again(world: World) -> None:
    sent: Sent = []
    mail = mailing(sent)
    await mail.enqueue(world.conn, {"key": "k", "raise": "ordinary"})
    await world.tick(mail)
    await world.rows("select crontick.resolve_doubt('mail', 'k', 'sent', 'ann')")
    await mail.enqueue(world.conn, {"key": "k"})
    summary = await world.tick(mail)
    assert (summary.duplicates, sent) == (1, [])


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("no connection", "failed"),
        ("an answer that says no", "failed"),
        ("retry", "failed"),
        ("snooze", "queued"),
        ("permanent", "dead"),
        ("cancel", "cancelled"),
    ],
)
async def test_left_by_what_proves_that_nothing_arrived_the_marker_is_free(world: World, how: str, status: str) -> None:
    sent: Sent = []
    mail = mailing(sent)
    job = await mail.enqueue(world.conn, {"key": "k", "raise": how})
    await world.tick(mail)
    assert (await world.status(job), await markers(world)) == ([status], [])


async def test_a_refused_send_is_retried_and_sent(world: World) -> None:
    sent: Sent = []
    mail = mailing(sent)
    job = await mail.enqueue(world.conn, {"key": "k", "raise": "no connection"})
    await world.tick(mail)
    await world.later(100)
    await world.tick(mail)
    assert (sent, await world.status(job)) == (["k"], ["succeeded"])


async def test_another_job_that_meets_a_doubt_is_dead_in_doubt(world: World) -> None:
    sent: Sent = []
    mail = mailing(sent)
    first = await mail.enqueue(world.conn, {"key": "k", "raise": "ordinary"})
    await world.tick(mail)
    second = await mail.enqueue(world.conn, {"key": "k"})
    await world.tick(mail)
    told = await world.job(second)
    assert (told["status"], sent) == ("dead", [])
    assert told["last_error"].startswith(f'in doubt: job {first} left "k"')


async def test_with_the_policy_resend_a_doubt_is_sent_again(world: World) -> None:
    sent: Sent = []
    mail = mailing(sent, in_doubt="resend", backoff=[1])
    job = await mail.enqueue(world.conn, {"key": "k", "raise": "ordinary"})
    await world.tick(mail)
    assert (await world.status(job), await markers(world)) == (["failed"], [("k", "in_doubt")])
    await world.later(10)
    await world.tick(mail)
    assert (sent, await world.status(job), await markers(world)) == (["k"], ["succeeded"], [("k", "sent")])


async def test_with_the_policy_skip_a_doubt_is_left_and_the_job_has_succeeded(world: World) -> None:
    sent: Sent = []
    mail = mailing(sent, in_doubt="skip")
    first = await mail.enqueue(world.conn, {"key": "k", "raise": "ordinary"})
    await world.tick(mail)
    second = await mail.enqueue(world.conn, {"key": "k"})
    summary = await world.tick(mail)
    assert (await world.status(first, second), summary.duplicates, sent) == (["succeeded"] * 2, 1, [])


async def test_a_mark_can_overrule_what_an_error_means(world: World) -> None:
    @kind("mail", marker="key")
    async def mail(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once() as mark:
            if payload["key"] == "free":
                mark.not_sent()
                raise ValueError
            mark.in_doubt()

    free = await mail.enqueue(world.conn, {"key": "free"})
    doubt = await mail.enqueue(world.conn, {"key": "doubt"})
    await world.tick(mail)
    assert await markers(world) == [("doubt", "in_doubt")]
    assert await world.status(free) == ["failed"]
    assert await world.rows("select key, job from crontick.doubts") == [("doubt", doubt)]


@pytest.mark.parametrize(("policy", "status"), [("park", "dead"), ("resend", "failed"), ("skip", "succeeded")])
async def test_a_function_that_returns_and_leaves_a_doubt_ends_as_its_kind_s_policy_says(
    world: World, policy: Literal["park", "resend", "skip"], status: str
) -> None:
    sent: Sent = []

    @kind("mail", marker="key", in_doubt=policy, backoff=[60])
    async def mail(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once() as mark:
            sent.append(ctx.job.id)
            if len(sent) == 1:
                mark.in_doubt()

    job = await mail.enqueue(world.conn, {"key": "k"})
    summary = await world.tick(mail)
    assert (await world.status(job), getattr(summary, status)) == ([status], 1)
    assert await markers(world) == [("k", "in_doubt")]
    copy = None
    if policy != "resend":
        copy = await world.one("select crontick.resolve_doubt('mail', 'k', 'not_sent', 'ann')")
        assert (await world.job(job))["requeued_as"] == copy is not None
    await world.later(67)
    await world.tick(mail)
    assert (sent, await markers(world)) == ([job, copy or job], [("k", "sent")])


async def test_a_send_that_stays_in_doubt_is_not_repeated_for_ever(world: World) -> None:
    @kind("mail", marker="key", in_doubt="resend", max_attempts=2, backoff=[1])
    async def mail(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once() as mark:
            mark.in_doubt()

    job = await mail.enqueue(world.conn, {"key": "k"})
    await world.tick(mail)
    await world.later(60)
    await world.tick(mail)
    told = await world.job(job)
    assert (told["status"], told["attempt"], await markers(world)) == ("dead", 2, [("k", "in_doubt")])


async def test_a_function_that_never_comes_to_its_marker_leaves_it_free(world: World) -> None:
    @kind("mail", marker="key")
    async def mail(payload: dict[str, Any], ctx: Context) -> None:
        raise ValueError

    job = await mail.enqueue(world.conn, {"key": "k"})
    await world.tick(mail)
    assert (await world.status(job), await markers(world)) == (["failed"], [])


async def test_cut_off_inside_its_marker_it_is_in_doubt(world: World) -> None:
    @kind("mail", marker="key", timeout=0.1)
    async def mail(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once():
            await asyncio.Event().wait()

    job = await mail.enqueue(world.conn, {"key": "k"})
    await world.tick(mail)
    assert (await world.status(job), await markers(world)) == (["dead"], [("k", "in_doubt")])


async def test_a_result_that_is_refused_after_the_send_does_not_send_again(world: World) -> None:
    sent: Sent = []
    mail = mailing(sent, backoff=[1])
    job = await mail.enqueue(world.conn, {"key": "k", "answer": "x" * 40_000})
    big = kind("mail", marker="key", backoff=[1])(_doubled(mail))
    await world.tick(big)
    assert (await world.status(job), await markers(world), sent) == (["failed"], [("k", "sent")], ["k"])
    await world.later(10)
    summary = await world.tick(big)
    assert (summary.duplicates, sent, await world.status(job)) == (1, ["k"], ["succeeded"])


def _doubled(mail: Kind[Any]) -> Any:
    async def doubled(payload: dict[str, Any], ctx: Context) -> Any:
        return (await mail.function(payload, ctx)) * 2

    return doubled


async def test_a_requeued_copy_keeps_the_lineage_s_key(world: World) -> None:
    sent: Sent = []

    @kind("mail", marker="")
    async def mail(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once() as mark:
            assert mark.key is not None
            sent.append(mark.key)
        if len(sent) == 1:
            raise Permanent("after the send")

    job = await mail.enqueue(world.conn, {})
    await world.tick(mail)
    copy = await world.one("select crontick.requeue(%s, 'ann')", job)
    summary = await world.tick(mail)
    assert (sent, summary.duplicates, await world.status(copy)) == ([f"job:{job}"], 1, ["succeeded"])


async def test_a_key_named_while_running_is_sent_once_too(world: World) -> None:
    sent: Sent = []

    @kind("two", backoff=[1])
    async def two(payload: dict[str, Any], ctx: Context) -> None:
        for key in ("a", "b"):
            async with ctx.once(f"{payload['n']}:{key}") as mark:
                if not mark.sent:
                    sent.append(f"{payload['n']}:{key}")
        if ctx.attempt == 1:
            raise ValueError

    jobs = [await two.enqueue(world.conn, {"n": n}) for n in range(3)]
    await world.tick(two)
    await world.later(10)
    await world.tick(two)
    assert await world.status(*jobs) == ["succeeded"] * 3
    assert sorted(sent) == ["0:a", "0:b", "1:a", "1:b", "2:a", "2:b"]


async def test_one_job_of_two_that_name_a_key_at_once_waits(world: World) -> None:
    sent: Sent = []
    both = asyncio.Barrier(2)

    @kind("late")
    async def late(payload: Any, ctx: Context) -> None:
        if ctx.attempt == 1 and both.n_waiting < 2:
            await both.wait()
        async with ctx.once("k") as mark:
            if not mark.sent:
                sent.append(ctx.job.id)

    await late.enqueue_many(world.conn, [{}] * 2)
    summary = await world.tick(late)
    assert (summary.succeeded, summary.snoozed, len(sent)) == (1, 1, 1)


async def test_a_sync_function_marks_too(world: World) -> None:
    sent: Sent = []

    @kind("sync", marker="key")
    def sync(payload: dict[str, Any], ctx: Context) -> None:
        with ctx.once() as mark:
            sent.append(mark.key)
        with ctx.once("other") as mark:
            sent.append(mark.key)

    await sync.enqueue(world.conn, {"key": "k"})
    assert (await world.tick(sync)).succeeded == 1
    assert (sent, await markers(world)) == (["k", "other"], [("k", "sent"), ("other", "sent")])


async def test_inside_complete_the_marker_is_part_of_that_transaction(world: World) -> None:
    @kind("mail", marker="key")
    async def mail(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once(), ctx.db() as conn, conn.transaction():
            await ctx.complete(conn)

    job = await mail.enqueue(world.conn, {"key": "k"})
    await world.tick(mail)
    assert (await world.status(job), await markers(world)) == (["succeeded"], [("k", "sent")])
