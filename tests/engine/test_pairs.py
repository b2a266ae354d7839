"""Any two of the things that decide what a tick claims work together."""

import itertools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

from crontick.jobs import Context, kind
from tests.engine.conftest import World

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("world", ["direct"], indirect=True)]
JOBS: Final = 5

OPTIONS: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "group": ({"group_key": "g"}, {}),
    "priority": ({"priority": 7}, {}),
    "unique key": ({"unique_key": "k", "unique_for": "waiting"}, {}),
    "expiry": ({"expires_at": datetime(2031, 1, 1, tzinfo=UTC)}, {}),
    "queue filter": ({"queue": "slow"}, {"queues": ("slow",)}),
    "kind filter": ({}, {"kinds": ("note",)}),
    "job filter": ({}, {"jobs": ()}),
    "limit of one tick": ({}, {"limit": JOBS}),
    "marker": ({}, {}),
    "lets pass": ({}, {}),
    "a pause beside": ({}, {}),
    "rate": ({}, {}),
    "concurrency": ({}, {}),
    "seats": ({}, {}),
    "breaker": ({}, {}),
}
"""What is said at enqueue, and of the tick."""
CONFIGURED: Final = {
    "rate": '[limits.often]\nkind = "note"\nrate = "600/minute"\nburst = 5\n',
    "concurrency": '[limits.beside]\nkind = "note"\nkey = "payload.tenant"\nconcurrency = 2\n',
    "seats": "[queues.default]\nseats = 2\n[queues.slow]\nseats = 2\n",
    "breaker": "[kinds.note]\nbreaker = true\n",
}
"""What stands in ``crontick.toml``."""


@pytest.mark.parametrize("pair", list(itertools.combinations(OPTIONS, 2)), ids=" and ".join)
async def test_every_pair_runs_its_jobs_and_no_other(world: World, pair: tuple[str, str], tmp_path: Path) -> None:
    ran: list[int] = []
    path = tmp_path / "crontick.toml"
    path.write_text("".join(CONFIGURED.get(name, "") for name in pair))
    world.settings = {"config_path": path}

    @kind("note", marker="n" if "marker" in pair else None, on_failure="pass" if "lets pass" in pair else "block")
    async def note(payload: dict[str, str], ctx: Context) -> None:
        ran.append(ctx.job.id)

    @kind("other")
    async def other(payload: dict[str, str]) -> None:
        """Nothing."""

    said = {**OPTIONS[pair[0]][0], **OPTIONS[pair[1]][0]}
    request = {**OPTIONS[pair[0]][1], **OPTIONS[pair[1]][1]}
    if "a pause beside" in pair:
        await world.rows("select crontick.set_endpoint('crm', 'https://crm.example/hook')")
        for what, name in (("kind", "other"), ("queue", "elsewhere"), ("group", "h"), ("endpoint", "crm")):
            await world.rows("select crontick.pause(%s, %s, 'ann')", what, name)
    jobs = []
    for nth in range(JOBS):
        own = {**said, "unique_key": f"k{nth}"} if "unique_key" in said else said
        jobs.append(await note.enqueue(world.conn, {"n": str(nth), "tenant": "a"}, **own))
    await other.enqueue(world.conn, {}, run_at=3600)
    summary = await world.tick(note, other, **{**request, **({"jobs": tuple(jobs)} if "jobs" in request else {})})
    assert (summary.succeeded, summary.failed, summary.dead) == (JOBS, 0, 0)
    assert sorted(ran) == jobs
    assert "group" not in pair or ran == jobs
