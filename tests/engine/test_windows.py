"""A kind whose provider knows idempotency keys repeats a send in doubt, the same bytes under the same key (P21)."""

from typing import Any, Literal

import pytest

from crontick.jobs import Context, Kind, Permanent, kind
from crontick.jobs.testing import run
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio
HOUR = 3600
Sent = list[tuple[str, bytes]]


def paying(sent: Sent, fates: list[str], *, in_doubt: Literal["park", "resend", "skip"] = "park") -> Kind[Any]:
    """A kind that says for each attempt how its send goes; the text of what it sends is the payload's ``text``."""

    @kind("pay", marker="key", in_doubt=in_doubt, window=24 * HOUR, backoff=[60], max_attempts=4)
    async def pay(payload: dict[str, Any], ctx: Context) -> None:
        content = payload["text"].encode()
        async with ctx.once(content=content) as mark:
            mark.provider = "bank"
            sent.append((mark.idempotency_key, content))
            fate = fates.pop(0) if fates else "sent"
            if fate == "lost":
                mark.in_doubt()
            if fate == "refused":
                raise Permanent("no")

    return pay


async def state(world: World) -> list[tuple[Any, ...]]:
    return await world.rows("select state, job from crontick.markers")


async def test_a_send_in_doubt_is_repeated_and_has_its_history(world: World) -> None:
    sent: Sent = []
    pay = paying(sent, ["lost", "lost"])
    job = await pay.enqueue(world.conn, {"key": "k", "text": "1"})
    for _ in range(3):
        await world.tick(pay)
        await world.later(90)
    assert (len(sent), len(set(sent)), await state(world)) == (3, 1, [("sent", job)])
    assert await world.status(job) == ["succeeded"]


async def test_the_window_is_counted_from_the_first_try(world: World) -> None:
    sent: Sent = []
    pay = paying(sent, ["lost", "lost"])
    job = await pay.enqueue(world.conn, {"key": "k", "text": "1"})
    await world.tick(pay)
    await world.later(22 * HOUR)
    await world.tick(pay)
    await world.later(2 * HOUR)
    await world.tick(pay)
    assert (len(sent), await state(world), await world.status(job)) == (2, [("in_doubt", job)], ["dead"])


async def test_what_was_sent_is_not_forgotten_by_a_refusal_to_send_something_else(world: World) -> None:
    sent: Sent = []
    pay = paying(sent, ["lost"])
    for text in ("1", "2", "2", "3"):
        await pay.enqueue(world.conn, {"key": "k", "text": text})
        await world.tick(pay)
    assert [content for _, content in sent] == [b"1"]
    await world.later(90)
    await world.tick(pay)
    assert ([content for _, content in sent], (await state(world))[0][0]) == ([b"1", b"1"], "sent")


@pytest.mark.parametrize("text", ["1", "2"])
async def test_another_job_with_the_key_repeats_only_the_same_bytes(world: World, text: str) -> None:
    sent: Sent = []
    pay = paying(sent, ["lost"])
    first = await pay.enqueue(world.conn, {"key": "k", "text": "1"})
    await world.tick(pay)
    second = await pay.enqueue(world.conn, {"key": "k", "text": text})
    await world.tick(pay)
    same = text == "1"
    assert len(sent) == (2 if same else 1)
    assert await state(world) == [("sent", second) if same else ("in_doubt", second)]
    assert await world.status(first, second) == ["failed", "succeeded" if same else "dead"]
    await world.later(90)
    await world.tick(pay)
    assert (await world.status(first), len(set(sent))) == (["succeeded"], 1)


async def test_a_repeat_that_is_refused_leaves_the_first_in_doubt(world: World) -> None:
    sent: Sent = []
    pay = paying(sent, ["lost", "refused"])
    job = await pay.enqueue(world.conn, {"key": "k", "text": "1"})
    await world.tick(pay)
    await world.later(90)
    await world.tick(pay)
    assert (await state(world), await world.status(job)) == ([("in_doubt", job)], ["dead"])
    copy = await world.one("select crontick.resolve_doubt('pay', 'k', 'not_sent', 'ann')")
    await world.tick(pay)
    assert (await state(world), len(sent)) == ([("sent", copy)], 3)


async def test_one_that_got_through_for_another_job_ends_the_doubt_of_the_dead_one(world: World) -> None:
    sent: Sent = []
    pay = paying(sent, ["lost", "refused"])
    dead = await pay.enqueue(world.conn, {"key": "k", "text": "1"})
    await world.tick(pay)
    await world.later(90)
    await world.tick(pay)
    await pay.enqueue(world.conn, {"key": "k", "text": "1"})
    await world.tick(pay)
    assert await world.one("select resolution from crontick.jobs where id = %s", dead) == "sent"


async def test_what_is_to_be_sent_is_known_before_it_is_sent_in_one_trip_for_all(world: World) -> None:
    seen: list[int] = []

    @kind("pay", marker="key", window=24 * HOUR)
    async def pay(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once(content=payload["key"].encode()):
            seen.append(await world.one("select count(*) from crontick.markers where content_hash is not null"))

    for nth in range(5):
        await pay.enqueue(world.conn, {"key": f"k{nth}"})
    await world.tick(pay)
    assert seen == [5] * 5


async def test_what_lost_its_lease_before_the_send_does_not_send(world: World) -> None:
    sent: list[str] = []

    @kind("pay", marker="key", window=24 * HOUR)
    async def pay(payload: dict[str, Any], ctx: Context) -> None:
        await world.rows("update crontick.markers set claim = 7 returning 1")
        async with ctx.once(content=b"1"):
            sent.append(ctx.kind.name)

    job = await pay.enqueue(world.conn, {"key": "k"})
    await world.tick(pay)
    assert (sent, await world.status(job)) == ([], ["queued"])


@pytest.mark.parametrize(("told", "keys"), [(("1", "1"), 1), (("1", "2"), 2)])
async def test_a_key_named_while_it_runs_knows_what_was_sent_under_it(
    world: World, told: tuple[str, str], keys: int
) -> None:
    sent: list[str] = []

    @kind("pay", marker="key", in_doubt="resend", window=24 * HOUR, backoff=[60])
    async def pay(payload: dict[str, Any], ctx: Context) -> None:
        async with ctx.once("other", content=told[len(sent)].encode()) as mark:
            sent.append(mark.idempotency_key)
            if len(sent) == 1:
                mark.in_doubt()

    await pay.enqueue(world.conn, {"key": "k"})
    for _ in range(2):
        await world.tick(pay)
        await world.later(90)
    assert (len(sent), len(set(sent))) == (2, keys)


def test_without_content_there_is_no_idempotency_key() -> None:
    @kind("pay")
    async def pay(payload: dict[str, Any], ctx: Context) -> str:
        async with ctx.once("k") as mark:
            return mark.idempotency_key

    assert "ctx.once(content=…)" in getattr(run(pay, {}), "error", "")


def test_a_window_belongs_to_a_marker_and_is_longer_than_its_margin() -> None:
    for options in ({"window": 24 * HOUR}, {"marker": "key", "window": HOUR}):
        with pytest.raises(ValueError, match="window belongs to a marker"):
            kind("pay", **options)
