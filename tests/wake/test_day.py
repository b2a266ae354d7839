"""A day on which ten moments are due wakes app and database about eleven times, where a quarter-hourly call does 96."""

from datetime import timedelta
from typing import Any

import pytest

from crontick.jobs import kind
from tests.wake.conftest import Waking
from tests.wake.services import Alarms, documented, qstash

pytestmark = pytest.mark.anyio
DAY = timedelta(days=1)
DUE_MINUTES = (7, 61, 62, 300, 301, 480, 777, 900, 1234, 1400)


@kind("note")
async def note(_: dict[str, Any]) -> None: ...


async def test_ten_due_moments_are_eleven_wakes(world: Waking, alarms: Alarms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRON_SECRET", "a-cron-secret-of-the-test")
    monkeypatch.setenv("QSTASH_TOKEN", "qstash-token-of-the-test")
    qstash(alarms)
    world.configure(documented(2, alarms.receiver))
    ends_at = await world.now() + DAY
    jobs = [await world.enqueue(minutes * 60) for minutes in DUE_MINUTES]
    wakes = 1
    await world.tick(note, trigger="eventbridge")
    while (at := alarms.next_after(await world.now())) is not None and at < ends_at:
        await world.later((at - await world.now()).total_seconds())
        summary = await world.tick(note, trigger="wake")
        wakes += 1
        assert summary.claimed, "nobody is woken for nothing"
    assert set(await world.status(*jobs)) == {"succeeded"}
    assert len(DUE_MINUTES) - 1 <= wakes <= len(DUE_MINUTES) + 1
    late = await world.one("select max(finished_at - run_at) from crontick.jobs")
    assert late < timedelta(minutes=5), "a minute, where the machine has time"
