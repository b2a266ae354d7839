"""Payloads that do not fit, rows that cannot be read, kinds that nobody knows: their own job pays, and nobody else."""

from dataclasses import dataclass
from typing import Any

import pytest

from crontick.jobs import Context, PayloadError, kind
from crontick.jobs.payload import encode_json, stored_bytes
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Receipt:
    """A payload with a type."""

    order: int


@kind("receipt")
async def receipt(payload: Receipt) -> dict[str, int]:
    return {"order": payload.order}


@kind("any")
async def anything(payload: Any) -> None: ...


async def test_a_payload_that_does_not_fit_is_tried_again_after_five_minutes_and_then_dead(world: World) -> None:
    job = await world.one("select crontick.enqueue('receipt', '{\"order\": \"seven\"}')")
    summary = await world.tick(receipt)
    assert summary.failed == 1
    assert 295 < await world.delay(job) <= 300
    await world.later(301)
    summary = await world.tick(receipt)
    assert (summary.dead, await world.status(job)) == (1, ["dead"])


async def test_a_rolling_deploy_mends_a_payload_that_did_not_fit(world: World) -> None:
    job = await world.one("select crontick.enqueue('any', '{\"order\": \"seven\"}')")
    await world.tick(kind("any")(receipt.function))
    await world.later(301)
    await world.tick(anything)
    assert await world.status(job) == ["succeeded"]


@dataclass(frozen=True)
class Invoice:
    """As this release has it; earlier ones had no ``currency``, a ``colour``, or ``no`` for the number."""

    number: int
    currency: str = "EUR"


@kind("invoice")
async def invoice(payload: Invoice) -> list[Any]:
    return [payload.number, payload.currency]


@pytest.mark.parametrize(
    "earlier", [{"number": 7}, {"number": 7, "colour": "red"}], ids=["a field was added", "a field was taken out"]
)
async def test_what_an_earlier_release_enqueued_runs(world: World, earlier: dict[str, Any]) -> None:
    job = await kind("invoice")(anything.function).enqueue(world.conn, earlier)
    assert (await world.tick(invoice)).succeeded == 1
    assert (await world.job(job))["result"] == [7, "EUR"]


@pytest.mark.parametrize("mended", [True, False])
async def test_a_renamed_field_waits_five_minutes_for_code_that_reads_it_and_is_dead_without(
    world: World,
    mended: bool,  # noqa: FBT001 (a table)
) -> None:
    @kind("invoice")
    async def reads_both(payload: dict[str, int]) -> int:
        return payload["number"] if "number" in payload else payload["no"]

    job = await reads_both.enqueue(world.conn, {"no": 7})
    assert (await world.tick(invoice)).failed == 1
    assert 295 < await world.delay(job) <= 300
    await world.later(301)
    await world.tick(reads_both if mended else invoice)
    found = await world.job(job)
    assert (found["status"], found["result"]) == (("succeeded", 7) if mended else ("dead", None))
    assert mended or "number" in found["last_error"]


async def test_a_payload_that_stops_fitting_after_two_attempts_gets_its_one_more_try(world: World) -> None:
    """A deploy that is rolled back, and then rolled forward again."""

    @kind("any", backoff=[60])
    async def busy(payload: Any) -> None:
        raise OSError("later")

    job = await world.one("select crontick.enqueue('any', '{\"order\": \"seven\"}')")
    for code, error in [(busy, "OSError"), (busy, "OSError"), (kind("any")(receipt.function), "PayloadError")]:
        summary = await world.tick(code)
        assert (summary.failed, await world.status(job)) == (1, ["failed"])
        assert error in (await world.job(job))["last_error"]
        await world.later(301)
    assert (await world.tick(kind("any")(receipt.function))).dead == 1


async def test_a_payload_error_of_the_function_s_own_is_an_ordinary_failure(world: World) -> None:
    @kind("parent", max_attempts=2, backoff=[60])
    async def parent(payload: dict[str, Any], ctx: Context) -> None:
        ctx.enqueue(receipt, {"order": "seven"})

    job = await parent.enqueue(world.conn, {})
    await world.tick(parent)
    assert 59 < await world.delay(job) <= 66, "its own backoff, not the wait for a rolling deploy"


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        ({"order": "x"}, "fit"),
        (Receipt("x"), "fit"),  # type: ignore[arg-type]
        ({"order": 1, "a": "\0"}, "NUL"),
        ({"order": 1, "a": "\ud800"}, "surrogate"),
        ({"order": 1, "a": "x" * 2**20}, "65536 are allowed"),
        ({"order": 1, "k" * 70_000: 1}, "65536 are allowed"),
        ({"order": 1, **{f"k{n}": n for n in range(20_000)}}, "65536 are allowed"),
    ],
)
async def test_python_refuses_a_payload_before_it_is_sent(world: World, payload: Any, said: str) -> None:
    with pytest.raises(PayloadError, match=said):
        await receipt.enqueue(world.conn, payload)
    assert await world.counts() == {}


async def test_a_payload_over_64_kib_is_refused_by_python_with_the_same_limit(world: World) -> None:
    with pytest.raises(PayloadError, match="65536 are allowed"):
        await anything.enqueue(world.conn, "x" * 65535)
    assert await anything.enqueue(world.conn, "x" * 65534)


LARGE = {
    "many keys": {f"k{n:05d}": 1 for n in range(5500)},
    "floats with exponents": [1e308, -1.5e-7, 5e-324, 1e22, -0.0, 0.1, -0.05] * 6000,
    "no floats, though they look so": ['1e308", -0.0 "'] * 6000,
    "letters that Python would escape": "漢" * 11_000,
    "emoji": "\U0001f600" * 11_000,
    "escapes": '"\\\b\f\n\r\t\x01\x1f\x7f\u2028' * 4000,
    "integers": [10**4000] * 20,
}


@pytest.mark.parametrize("what", LARGE)
async def test_python_measures_as_jsonb_does(world: World, what: str) -> None:
    text = encode_json(LARGE[what])
    assert stored_bytes(text) == await world.one("select octet_length(%s::jsonb::text)", text)


async def test_what_sql_would_refuse_leaves_the_caller_s_transaction_usable(world: World) -> None:
    async with world.conn.transaction():
        for payload in (LARGE["many keys"], [1e308] * 2000):
            with pytest.raises(PayloadError, match="65536 are allowed"):
                await anything.enqueue(world.conn, payload)
        batches: list[list[Any]] = [[{}] * 10_001, ["x" * 65_000] * 260]
        for many in batches:
            with pytest.raises(PayloadError, match="10000 jobs and 16 MiB at most"):
                await anything.enqueue_many(world.conn, many)
        assert await anything.enqueue_many(world.conn, [LARGE["letters that Python would escape"], 1.0])


async def test_what_python_lets_through_sql_takes(world: World) -> None:
    room = 65_536 - len('""')
    for full in ("x" * room, "漢" * (room // 3), [1] * 21_845, [1e308] * 210):
        assert await anything.enqueue(world.conn, full)
        with pytest.raises(PayloadError, match="65536 are allowed"):
            await anything.enqueue(world.conn, [full, 1e308])


UNREADABLE = {
    "6,000 nested arrays": ("jsonb '" + "[" * 6000 + "]" * 6000 + "'"),
    "an integer of 4,301 digits": "jsonb '{\"n\": 1e4300}'",
    "a negative one of 5,001": "jsonb '{\"n\": -1e5000}'",
    "1,500 nested arrays": ("jsonb '" + "[" * 1500 + "]" * 1500 + "'"),
}
INSERT = """
insert into crontick.unfinished_jobs (kind, queue, priority, run_at, due_at, created_at, updated_at, payload)
select 'any', 'default', 0, now(), now(), now(), now(), {payload} returning id
"""


@pytest.mark.parametrize("name", UNREADABLE)
async def test_an_unreadable_row_pays_alone(world: World, name: str) -> None:
    @kind("any")
    async def typed(payload: dict[str, Any]) -> None: ...

    before = await typed.enqueue_many(world.conn, [{}] * 5)
    await world.rows("set max_stack_depth = '6MB'")
    bad = await world.one(INSERT.format(payload=UNREADABLE[name]))
    after = await typed.enqueue_many(world.conn, [{}] * 5)
    await world.tick(typed)
    assert await world.status(*before, *after) == ["succeeded"] * 10
    await world.later(301)
    again = await typed.enqueue(world.conn, {})
    await world.tick(typed)
    assert await world.status(again, bad) == ["succeeded", "dead"]
    assert "payload" in await world.one("select last_error from crontick.jobs where id = %s", bad)


async def test_unknown_kinds_are_parked_and_do_not_stand_in_the_way(world: World) -> None:
    for _ in range(50):
        await world.rows("select crontick.enqueue('tomorrow', priority => 50)")
    good = await anything.enqueue(world.conn, {})
    summary = await world.tick(anything)
    assert (summary.claimed, await world.status(good)) == (1, ["succeeded"])
    assert await world.rows("select held_by, count(*) from crontick.jobs where kind = 'tomorrow' group by 1") == [
        ("kind", 50)
    ]
    assert await world.rows("select kind, status, jobs from crontick.overview where held_by = 'kind'") == [
        ("tomorrow", "queued", 50)
    ]


async def test_a_parked_row_is_written_once(world: World) -> None:
    job = await world.one("select crontick.enqueue('tomorrow')")
    await world.tick(anything)
    before = await world.one("select xmin::text from crontick.unfinished_jobs where id = %s", job)
    await world.tick(anything)
    assert await world.one("select xmin::text from crontick.unfinished_jobs where id = %s", job) == before


async def test_a_deployment_that_knows_the_kind_lets_its_jobs_in(world: World) -> None:
    @kind("tomorrow")
    async def tomorrow(payload: Any) -> None: ...

    job = await world.one("select crontick.enqueue('tomorrow')")
    await world.tick(anything)
    summary = await world.tick(anything, tomorrow)
    assert (summary.succeeded, await world.status(job), (await world.job(job))["attempt"]) == (1, ["succeeded"], 1)


async def test_old_and_new_code_side_by_side_lose_none(world: World) -> None:
    @kind("tomorrow")
    async def tomorrow(payload: Any) -> None: ...

    await tomorrow.enqueue_many(world.conn, [{}] * 100)
    for _ in range(6):
        await world.tick(anything)
        await world.tick(anything, tomorrow, limit=30)
    assert await world.counts() == {"succeeded": 100}
