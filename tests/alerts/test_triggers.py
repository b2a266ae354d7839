"""How often a trigger calls is declared or learned; one that is late or stays away is told by whatever still calls."""

from pathlib import Path

import pytest

from tests.alerts.conftest import Alarmed

pytestmark = pytest.mark.anyio
QUARTER = 900


async def history(world: Alarmed, *gaps: float) -> None:
    for gap in gaps:
        await world.tick_named("github-actions", gap)


async def test_a_trigger_that_kept_a_beat_and_stays_away_is_missed_until_it_is_back(world: Alarmed) -> None:
    await history(world, *[QUARTER] * 15)
    await world.later(4.5 * QUARTER)
    await world.tick()
    assert await world.active() == [("trigger_missing", "github-actions")]
    [said] = world.heard
    assert "no tick of github-actions since" in said
    assert said.endswith("expected every 15 minutes")
    await world.tick(trigger="github-actions")
    assert await world.active() == [("trigger_missing", "github-actions")], "its gap is among the last two"
    for _ in range(2):
        await world.later(QUARTER)
        await world.tick(trigger="github-actions")
    assert await world.active() == []
    assert [line.split(":")[0] for line in world.heard] == ["trigger_missing", "trigger_missing is over"]


async def test_two_late_calls_of_three_are_told_and_one_is_not(world: Alarmed) -> None:
    await history(world, *[QUARTER] * 15, 3 * QUARTER)
    await world.tick()
    assert await world.active() == []
    await history(world, 3 * QUARTER)
    await world.tick()
    assert await world.active() == [("trigger_late", "github-actions")]
    await history(world, QUARTER, QUARTER)
    await world.tick()
    assert await world.active() == []


@pytest.mark.parametrize(
    "gaps",
    [[QUARTER] * 9, [60, 4000, 90, 7000, 30, 60, 9000, 80, 5000, 61, 8000, 70, 6000], [2] * 20],
    ids=["too few", "no beat", "in a loop"],
)
async def test_of_what_keeps_no_beat_nothing_is_expected(world: Alarmed, gaps: list[float]) -> None:
    await history(world, 0, *gaps)
    await world.later(36_000)
    await world.tick()
    assert await world.active() == []
    assert await world.one("select crontick.expected_every('github-actions')") is None


async def test_a_trigger_that_was_given_up_is_forgotten(world: Alarmed) -> None:
    await history(world, *[QUARTER] * 15)
    await world.later(3 * 86_400)
    await world.tick()
    assert await world.active() == []


async def test_what_is_declared_holds_for_all_ticks_together(world: Alarmed, tmp_path: Path) -> None:
    world.settings["config_path"] = tmp_path / "crontick.toml"
    world.settings["config_path"].write_text('[alerts]\nexpected_every = "15m"\n')
    await world.tick(trigger="curl")
    await world.later(5 * QUARTER)
    await world.tick(trigger="github-actions")
    assert await world.active() == [("trigger_missing", "")]
    for _ in range(2):
        await world.later(QUARTER)
        await world.tick(trigger="curl")
    assert await world.active() == []


async def test_why_says_who_was_to_call_and_how_often(world: Alarmed) -> None:
    await history(world, *[QUARTER] * 15)
    await world.later(60)
    job = await world.one("select crontick.enqueue('anything')")
    assert " (github-actions, expected every 15 minutes): call POST /cron/tick" in await world.one(
        "select crontick.why(%s)", job
    )
