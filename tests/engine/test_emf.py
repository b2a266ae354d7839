"""CloudWatch's embedded metrics: lines that its specification takes, and no harm to a tick."""

import io
import json
import sys
from typing import Any

import httpx
import pytest

from crontick.handler.front import front_door
from crontick.handler.logs import push
from crontick.jobs import kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.emf import KINDS_AT_MOST, documents, write
from crontick.jobs.settings import Settings
from crontick.jobs.summary import Summary
from crontick.jobs.tally import KindTally
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio


@kind("count")
async def count(payload: dict[str, Any]) -> None:
    """Succeed."""


def checked(line: str) -> dict[str, Any]:
    """The line's values, once it is what the specification asks for."""
    told: dict[str, Any] = json.loads(line)
    meta = told.pop("_aws")
    [directive] = meta["CloudWatchMetrics"]
    [dimensions] = directive["Dimensions"]
    assert (directive["Namespace"], type(meta["Timestamp"])) == ("crontick", int)
    assert all(isinstance(told[name], str) and told[name] for name in dimensions)
    names = [metric["Name"] for metric in directive["Metrics"]]
    assert all(isinstance(told[name], int) for name in names)
    assert {metric["Unit"] for metric in directive["Metrics"]} <= {"Count", "Milliseconds", "Seconds"}
    assert (len(names) <= 100, len(dimensions) <= 30, sorted(told)) == (True, True, sorted([*names, *dimensions]))
    return told


async def test_a_tick_is_a_line_and_so_is_each_kind_that_ran(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    await count.enqueue_many(world.conn, [{}] * 3)
    summary = await world.tick(count)
    push(summary, Settings(environment="test", metrics="emf"))
    ticked, counted = map(checked, capsys.readouterr().out.splitlines())
    assert (ticked["environment"], ticked["ticks"], ticked["claimed"], ticked["succeeded"]) == ("test", 1, 3, 3)
    assert (counted["kind"], counted["attempts"], counted["attempts_failed"]) == ("count", 3, 0)


async def test_a_doubt_is_told_as_long_as_it_waits(world: World) -> None:
    assert [told["doubts"] for told in documents(await world.tick(), "test", 1)] == [0]
    await world.rows(
        "insert into crontick.markers (kind, digest, key, state, job, claim, reserved_at)"
        " values ('send_email', 'd', 'd', 'in_doubt', 7, 7, crontick.now())"
    )
    assert [told["doubts"] for told in documents(await world.tick(), "test", 1)] == [1]


def test_without_the_setting_nothing_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    push(Summary("curl"), Settings())
    assert capsys.readouterr().out == ""


def test_a_tick_that_ran_nothing_says_only_that() -> None:
    [told] = documents(Summary("curl", not_run="busy"), "production", 1)
    assert checked(json.dumps(told)) == {"environment": "production", "ticks_busy": 1}


def test_so_many_kinds_at_most_are_told_the_busiest_first() -> None:
    summary = Summary("curl", kinds={f"kind_{nth}": KindTally(n=nth) for nth in range(100)})
    _, *kinds = documents(summary, "production", 1)
    assert [told["attempts"] for told in kinds] == list(range(99, 99 - KINDS_AT_MOST, -1))


def test_a_closed_stdout_harms_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stdout", closed)
    write(Summary("curl"), "production")


async def test_the_door_of_the_tick_writes_before_it_answers(database: str, capsys: pytest.CaptureFixture[str]) -> None:
    settings = Settings(
        database_url=database,
        environment="test",
        keep_connection_seconds=0,
        cron_secrets=("3f9b1c0de7a24586b1f0",),
        metrics="emf",
    )
    deployment = load_deployment(settings, kinds=[count])
    transport = httpx.ASGITransport(front_door(settings, lambda: deployment))
    async with httpx.AsyncClient(transport=transport, base_url="http://app.example") as client:
        answer = await client.post("/cron/tick", headers={"authorization": "Bearer 3f9b1c0de7a24586b1f0"})
    assert (answer.status_code, "kinds" in answer.json()) == (200, False)
    [ticked] = map(checked, capsys.readouterr().out.splitlines())
    assert (ticked["ticks"], ticked["claimed"]) == (1, 0)
