"""How long attempts took is kept in their tick's row, also of those that leave no other trace."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from crontick.handler.operate.kind_times import list_kind_times, quantile_ms
from crontick.jobs import Context, Permanent, kind
from crontick.jobs.tally import KindTally
from tests.operate.conftest import KINDS, Operated

pytestmark = pytest.mark.anyio


@kind("fail_first", backoff=[1])
async def fail_first(payload: dict[str, Any], ctx: Context) -> None:
    """Fail, then die of it."""
    if ctx.attempt == 1:
        raise RuntimeError("not yet")
    raise Permanent("never")


async def kept(operated: Operated) -> list[dict[str, Any]]:
    rows = await operated.rows("select kinds::text from crontick.ticks order by id")
    return [msgspec.json.decode(row[0]) for row in rows]


async def test_a_tick_keeps_how_many_attempts_of_each_kind_ended_and_how(operated: Operated) -> None:
    await operated.enqueue("greet")
    await operated.enqueue("greet")
    await operated.enqueue("fail_first")
    await operated.tick(*KINDS, fail_first)
    await operated.later(5)
    await operated.tick(*KINDS, fail_first)
    await operated.tick(*KINDS, fail_first)
    first, second, idle = await kept(operated)
    assert {name: (told["n"], told["failed"], told["dead"]) for name, told in first.items()} == {
        "greet": (2, 0, 0),
        "fail_first": (1, 1, 0),
    }
    assert [sum(told["buckets"]) for told in first.values()] == [told["n"] for told in first.values()]
    assert (second["fail_first"]["n"], second["fail_first"]["dead"], idle) == (1, 1, {})


async def test_what_several_ticks_kept_is_one_answer(operated: Operated) -> None:
    for name in ("greet", "greet", "fail_first"):
        await operated.enqueue(name)
        await operated.tick(*KINDS, fail_first)
    [failing, greeting] = await list_kind_times(operated.conn)
    assert (failing.kind, failing.attempts, failing.failed) == ("fail_first", 1, 1)
    assert (greeting.kind, greeting.attempts, greeting.failed) == ("greet", 2, 0)
    assert timedelta(0) <= greeting.p50 <= greeting.p95 <= greeting.longest
    await operated.later(2 * 86400)
    assert await list_kind_times(operated.conn) == []


async def test_many_exchanges_of_one_tick_add_up_once(operated: Operated) -> None:
    for _ in range(7):
        await operated.enqueue("greet")
    operated.settings = {"concurrency": 2}
    summary = await operated.tick(*KINDS)
    [told] = await kept(operated)
    assert (summary.succeeded, told["greet"]["n"]) == (7, 7)


async def test_a_message_sent_before_is_no_attempt_that_took_no_time(operated: Operated) -> None:
    await operated.enqueue("mail", '{"key": "k"}')
    await operated.conn.execute(
        "insert into crontick.markers (kind, key, digest, state, job, claim, reserved_at)"
        " values ('mail', 'k', sha256('k'), 'sent', 1, 1, now())"
    )
    summary = await operated.tick(*KINDS)
    assert (summary.duplicates, await kept(operated)) == (1, [{}])


@pytest.mark.parametrize(
    ("took_ms", "share", "about_ms"),
    [
        ([], 0.5, 0),
        ([7], 0.5, 3.5),
        ([7], 1.0, 7),
        ([20] * 99 + [9000], 0.5, 18),
        ([20] * 99 + [9000], 0.95, 25),
        ([20] * 99 + [9000], 1.0, 9000),
        ([100_000], 0.95, 98_000),
        ([60_000], 1.0, 60_000),
    ],
)
def test_quantiles_are_exact_to_the_bucket(took_ms: list[int], share: float, about_ms: float) -> None:
    tally = KindTally()
    for milliseconds in took_ms:
        tally.add(milliseconds)
    assert quantile_ms(tally.buckets, share, tally.ms_max) == pytest.approx(about_ms, rel=0.05, abs=0.5)
