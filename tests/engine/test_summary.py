"""What a tick says of itself, in its answer and in its row."""

from typing import Any

import pytest

from crontick.jobs import Cancel, Permanent, Snooze, Unavailable, kind
from crontick.jobs.summary import COUNTS
from crontick.sql import SCHEMA
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio


@kind("any")
async def anything(payload: Any) -> None:
    match payload:
        case "fail":
            raise ValueError
        case "die":
            raise Permanent("no")
        case "snooze":
            raise Snooze(60)
        case "cancel":
            raise Cancel("gone")


async def dies_with(world: World, lease_seconds: int = 40, **job: Any) -> int:
    """A job that a tick claimed which then died."""
    made = await anything.enqueue(world.conn, None, **job)
    await world.rows(
        f"select crontick.open_tick(5, {SCHEMA}, 'test', '', '', 25, %s, 4, false, array['any'], '', null, '', '', '')",
        lease_seconds,
    )
    claimed = "select id from crontick.claim(5, 7, 1, 0, 0, %s, '{any}', null, null, null, null, true, false)"
    assert await world.one(claimed, lease_seconds) == made
    return made


async def test_the_counts_of_answer_and_row_are_the_same(world: World) -> None:
    await world.tick(anything)
    await dies_with(world)
    await world.later(60)
    for end, jobs in (("ok", 7), ("fail", 2), ("die", 3), ("snooze", 1), ("cancel", 4)):
        await anything.enqueue_many(world.conn, [end] * jobs)
    summary = await world.tick(anything)
    told = summary.as_dict(verbose=True)
    row = await world.one("select to_jsonb(t) from crontick.ticks as t order by id desc limit 1")
    assert {name: row[name] for name in COUNTS} == {name: told[name] for name in COUNTS}
    assert (told["claimed"], told["succeeded"], told["failed"], told["dead"]) == (18, 8, 2, 3)
    assert (told["snoozed"], told["cancelled"], told["rescued"]) == (1, 4, 1)
    assert (row["id"], row["stop_reason"], row["ended_at"] is not None) == (told["tick"], "empty", True)


async def test_the_answer_is_in_crontick_s_own_words(world: World) -> None:
    @kind("leaky")
    async def leaky(payload: Any) -> None:
        raise ValueError("password hunter2 of jane@example.org")

    jobs = [await leaky.enqueue(world.conn, {}) for _ in range(9)]
    told = (await world.tick(leaky)).as_dict(verbose=True)
    assert [error["job"] for error in told["errors"]] == jobs[:5]
    assert "hunter2" not in str(told)


async def test_the_row_says_who_called_and_how_late(world: World) -> None:
    summary = await world.tick(
        anything, trigger="curl", scheduled_for=await world.one("select now() - interval '5 min'")
    )
    assert 299 <= (summary.late_seconds or 0) <= 310
    assert await world.one("select trigger from crontick.ticks") == "curl"


async def test_while_as_many_run_as_may_a_tick_is_busy_and_claims_nothing(world: World) -> None:
    world.settings = {"max_parallel_ticks": 1}
    await dies_with(world)
    job = await anything.enqueue(world.conn, {})
    summary = await world.tick(anything)
    assert (summary.not_run, summary.claimed, await world.status(job)) == ("busy", 0, ["queued"])
    assert await world.one("select stop_reason from crontick.ticks order by id desc limit 1") == "busy"


async def test_a_killed_tick_blocks_nobody_for_longer_than_its_lease(world: World) -> None:
    world.settings = {"max_parallel_ticks": 1}
    job = await dies_with(world)
    await world.later(41)
    summary = await world.tick(anything)
    assert (summary.not_run, summary.rescued, summary.succeeded) == (None, 1, 1)
    assert (await world.job(job))["attempt"] == 2


async def test_while_paused_rescue_still_runs(world: World) -> None:
    await dies_with(world)
    await world.rows("select crontick.pause('all', '', 'ann')")
    await world.later(41)
    summary = await world.tick(anything)
    assert (summary.not_run, summary.rescued, await world.counts()) == ("paused", 1, {"queued": 1})


async def test_after_a_kill_the_next_tick_is_needed_when_the_lease_ends(world: World) -> None:
    await dies_with(world)
    await anything.enqueue(world.conn, {}, run_at=3600)
    summary = await world.tick(anything)
    assert summary.next_due_at == await world.one("select lease_expires_at from crontick.claims")


async def test_with_nothing_to_come_no_next_tick_is_needed(world: World) -> None:
    assert (await world.tick(anything)).next_due_at is None


async def test_how_long_the_oldest_has_been_due_is_told(world: World) -> None:
    await anything.enqueue_many(world.conn, [None] * 3)
    await world.later(90)
    summary = await world.tick(anything, limit=1)
    assert 90 <= summary.oldest_due_seconds <= 95


async def test_a_database_of_another_environment_is_not_touched(world: World) -> None:
    job = await anything.enqueue(world.conn, {})
    world.settings = {"environment": "staging"}
    with pytest.raises(Unavailable, match='belongs to the environment "test", not to "staging"'):
        await world.tick(anything)
    assert (await world.status(job), await world.one("select count(*) from crontick.ticks")) == (["queued"], 0)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("update crontick.installation set version = 0", "this code needs schema"),
        ("update crontick.installation set oldest_code = 999, version = 999", "deploy a newer crontick"),
        ("delete from crontick.installation", "crontick migrate"),
        ("drop schema crontick cascade", "crontick migrate"),
    ],
)
async def test_a_schema_that_does_not_fit_is_said_with_the_mend(world: World, change: str, said: str) -> None:
    await world.rows("set client_min_messages = error")
    await world.rows(change)
    with pytest.raises(Unavailable, match=said):
        await world.tick(anything)


async def test_code_that_is_older_than_the_schema_but_served_by_it_runs(world: World) -> None:
    await world.rows("update crontick.installation set version = 999")
    assert (await world.tick(anything)).not_run is None


async def test_a_deployment_s_first_tick_makes_its_kinds_known_and_the_next_does_not_again(world: World) -> None:
    fast = kind("fast", queue="mail", priority=9, max_attempts=2)(anything.function)
    await world.tick(fast)
    known = "select queue, priority, max_attempts from crontick.kinds where name = 'fast'"
    assert await world.rows(known) == [("mail", 9, 2)]
    assert (await world.job(await world.one("select crontick.enqueue('fast')")))["queue"] == "mail"
    await world.tick(fast)
    assert await world.one("select count(*) from crontick.deployments") == 1
    await world.tick(kind("fast", queue="slow")(anything.function))
    assert await world.rows(known) == [("slow", 0, 5)]


async def test_a_deployment_that_ticks_stays_known(world: World) -> None:
    await world.tick(anything)
    await world.later(90 * 86400)
    await world.tick(anything)
    assert await world.one("select min(seen_at) > crontick.now() - interval '1 minute' from crontick.kinds")


async def test_kinds_that_no_deployment_knows_are_warned_of(world: World) -> None:
    @kind("known")
    async def known(payload: Any) -> None: ...

    await world.tick(known)
    await world.rows("select crontick.enqueue(kind) from unnest(array['reciept', 'known', 'another']) as kind")
    await world.rows("update crontick.kinds set seen_at = crontick.now() where name = 'known'")
    for summary in (await world.tick(known), await world.tick(known)):
        assert [told for told in summary.warnings if "no deployment knows: another, reciept:" in told] != []
    assert (await world.tick()).succeeded == 0
    await world.rows("select crontick.enqueue('known')")
    assert not any("known," in told for told in (await world.tick()).warnings)
