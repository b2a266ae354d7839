"""The idle ticks of watchers leave no rows behind, keep no beat that anybody could miss, and ping seldom."""

from pathlib import Path

import pytest

from crontick.handler.watch_ticks import WatchTicks
from crontick.jobs.stop import Stop
from tests.faults.world import World, deployed
from tests.worlds.http_receiver import HttpReceiver

TICKS = """
insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, trigger, claimed)
select n, at, at, at + interval '40 seconds', at, %s, %s
from generate_series(%s::int, %s) as n, lateral (select crontick.now() - make_interval(secs => %s * n) as at) as t
"""
SEE = "select next_due_at from crontick.see_watcher(1, 'here', 1, '0', 60, true)"


async def test_of_idle_ticks_the_latest_alone_is_kept_and_none_whose_lease_holds(world: World) -> None:
    await world.conn.execute(TICKS, ("watch", 0, 0, 49, 10))
    await world.conn.execute(TICKS, ("watch", 7, 100, 109, 10))
    await world.conn.execute(TICKS, ("curl", 0, 200, 209, 10))
    await world.rows(SEE)
    kept = "select trigger, claimed, count(*) from crontick.ticks group by 1, 2 order by 1, 2"
    assert await world.rows(kept) == [("curl", 0, 10), ("watch", 0, 4), ("watch", 7, 10)]
    await world.later("2 minutes")
    await world.rows(SEE)
    assert await world.rows(kept) == [("curl", 0, 10), ("watch", 0, 1), ("watch", 7, 10)]


@pytest.mark.parametrize("declared", [None, "15 minutes"])
async def test_a_watcher_that_had_nothing_to_do_for_hours_is_neither_late_nor_missing(
    world: World, declared: str | None
) -> None:
    await world.tick()
    await world.conn.execute("update crontick.deployments set expected_every = %s::interval", (declared,))
    await world.conn.execute("delete from crontick.ticks")
    # Twelve busy ticks a quarter of an hour apart, then one that is idle, four hours later.
    await world.conn.execute(TICKS, ("watch", 7, 16, 27, 900))
    await world.conn.execute(TICKS, ("watch", 0, 0, 0, 900))
    await world.conn.execute(
        "update crontick.ticks set deployment = (select d.hash from crontick.deployments as d limit 1)"
    )
    assert await world.rows("select a.name from crontick.alerts_of_ticks(crontick.now()) as a") == []
    assert await world.rows("select crontick.learned_every('watch')") == [(None,)]


async def test_a_heartbeat_is_pinged_once_for_ticks_that_follow_each_other(
    world: World, http_receiver: HttpReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTBEAT_URL", f"{http_receiver.url}/ping")
    config = tmp_path / "crontick.toml"
    config.write_text('[heartbeat]\nurl_env = "HEARTBEAT_URL"\ntimeout = "30s"\n')
    ticks = WatchTicks(deployed(world.url, config_path=config), Stop())
    for _ in range(3):
        assert await ticks.tick() is not None
    paths = [request.target.partition("?")[0] for request in http_receiver.requests]
    assert paths == ["/ping/start", "/ping"]
