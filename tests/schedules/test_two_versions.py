"""Two versions with different zone data share a schedule: each of its slots fires once (P24)."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import msgspec
import psycopg
import pytest

from crontick.jobs.expression import named_after
from crontick.jobs.slots import Slot, following, parse
from tests.schedules.older_data import Question, write_zone_data
from tests.worlds.process import Processes

ROOT = Path(__file__).parents[2]
COMMAND = "from crontick.handler.cli import main; main()"
Version = Callable[[str, str, Slot], Slot]


def newer(text: str, zone: str, after: Slot) -> Slot:
    return following(parse(text, zone), after)


@pytest.fixture
def older(tmp_path: Path) -> Iterator[Version]:
    """A process for which British Columbia still changes its clocks."""
    write_zone_data(tmp_path, "America/Vancouver", "PST8PDT,M3.2.0,M11.1.0")
    command = [sys.executable, "-m", "tests.schedules.older_data"]
    environ = {**os.environ, "PYTHONPATH": f"{tmp_path}:{ROOT}"}
    with subprocess.Popen(command, stdin=-1, stdout=-1, env=environ, text=True, bufsize=1) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answers = process.stdin, process.stdout

        def ask(text: str, zone: str, after: Slot) -> Slot:
            asked.write(msgspec.json.encode(Question(text, zone, after)).decode() + "\n")
            return msgspec.json.decode(answers.readline(), type=Slot)

        yield ask
        asked.close()


def fired(text: str, versions: list[Version], first: datetime, days: int) -> list[Slot]:
    """What fires when the versions look in turn, each quarter of an hour, as ticks of both would."""
    zone = "America/Vancouver"
    slots = [following(parse(text, zone), first)]
    now, turn = slots[0].at, 0
    while now < first + timedelta(days=days):
        turn += 1
        slot = versions[turn % len(versions)](text, zone, slots[-1])
        if slot.at <= now:
            slots.append(slot)
        else:
            now += timedelta(minutes=15)
    return slots


@pytest.mark.parametrize("text", ["30 1 * * *", "30 2 * * *", "0 3 * * *", "0 9,21 * * *"])
@pytest.mark.parametrize("turns", ["on", "oon", "onn"])
def test_each_local_time_fires_once(older: Version, text: str, turns: str) -> None:
    versions = [older if turn == "o" else newer for turn in turns]
    for first, days in ((datetime(2026, 10, 30, tzinfo=UTC), 7), (datetime(2027, 3, 10, tzinfo=UTC), 8)):
        slots = [datetime.fromisoformat(slot.local) for slot in fired(text, versions, first, days)]
        named = named_after(parse(text, "UTC"), slots[0] - timedelta(seconds=1))
        assert slots == list(islice(named, len(slots)))
        assert len(slots) >= days - 1


def test_the_older_data_are_older(older: Version) -> None:
    last = Slot(datetime(2026, 12, 1, 8, tzinfo=UTC), "2026-12-01T00:00:00", 0)
    assert older("0 9 * * *", "America/Vancouver", last).at == datetime(2026, 12, 1, 17, tzinfo=UTC)
    assert newer("0 9 * * *", "America/Vancouver", last).at == datetime(2026, 12, 1, 16, tzinfo=UTC)


WORKER = """
from crontick.jobs import kind, schedule

@schedule("0 9 * * *", tz="America/Vancouver")
@kind("note")
async def note(payload: dict[str, object]) -> None: ...
"""


def test_ticks_of_both_versions_make_one_job_of_each_slot(database: str, processes: Processes, tmp_path: Path) -> None:
    """The newer data say 16:00 UTC, the older 17:00; whichever version fires the slot, the other does not."""
    (tmp_path / "worker.py").write_text(WORKER)
    write_zone_data(tmp_path / "older", "America/Vancouver", "PST8PDT,M3.2.0,M11.1.0")
    settings = {"CRONTICK_DATABASE_URL": database, "CRONTICK_ENVIRONMENT": "test", "CRONTICK_MODULES": "worker"}
    with psycopg.connect(database, autocommit=True) as conn:

        def tick(version: str, at: str) -> int:
            conn.execute("update crontick.test_clock set ahead = %s::timestamptz - statement_timestamp()", (at,))
            path = f"{tmp_path}:{tmp_path / 'older'}" if version == "older" else str(tmp_path)
            child = processes.start(COMMAND, "tick", "--json", env={**settings, "PYTHONPATH": path})
            assert child.wait(seconds=60) == 0, child.errors
            return int(json.loads(" ".join(child.rest()))["scheduled"])

        assert tick("newer", "2026-11-30 20:00Z") == 0
        assert tick("newer", "2026-12-01 16:05Z") == 1
        assert tick("older", "2026-12-02 16:05Z") == 0  # for it, 17:00 on the day before has passed since
        assert [tick("older", "2026-12-02 17:05Z"), tick("newer", "2026-12-02 17:10Z")] == [1, 0]
        assert [tick("newer", "2026-12-03 17:05Z"), tick("older", "2026-12-03 17:10Z")] == [1, 0]
        slots = conn.execute("select payload -> '$schedule' ->> 'local' from crontick.jobs order by id").fetchall()
    assert slots == [(f"2026-12-0{day}T09:00:00",) for day in (1, 2, 3)]
