"""Whoever does not ask for traces pays nothing for them, and on Lambda they go out before the answer."""

from pathlib import Path

import psycopg
import pytest

from tests.bench.cold import IDLE_TICK
from tests.house.test_cold import imported
from tests.on_lambda import events
from tests.on_lambda.world import World as LambdaWorld
from tests.otel.conftest import Told, said
from tests.worlds import runtime_api
from tests.worlds.http_receiver import Answer
from tests.worlds.process import Processes

ENQUEUES = """
import os, sys
import psycopg
from crontick.jobs import kind

@kind("greet")
def greet(payload: dict) -> None: ...

with psycopg.connect(os.environ["CRONTICK_DATABASE_URL"], autocommit=True) as conn:
    greet.enqueue(conn, {})
"""


@pytest.mark.parametrize("script", [IDLE_TICK, ENQUEUES], ids=["tick", "enqueue"])
def test_nothing_of_opentelemetry_is_imported_where_nobody_asks(database: str, tmp_path: Path, script: str) -> None:
    loaded = imported(script, database, tmp_path)
    assert [name for name in loaded if name.startswith(("opentelemetry", "crontick.jobs.otel", "google"))] == []


def test_figures_need_none_of_it_and_a_missing_extra_is_named(
    database: str, tmp_path: Path, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_METRICS", "otlp")
    loaded = imported(IDLE_TICK, database, tmp_path)
    assert [name for name in loaded if name.startswith(("opentelemetry", "google"))] == []
    assert told.metrics()["crontick.ticks"][0]["asInt"] == "1"
    monkeypatch.setenv("CRONTICK_TRACES", "otlp")
    without = f"import sys; sys.modules['opentelemetry'] = None\n{IDLE_TICK}\nprint(answer['body'])"
    assert "'crontick[otel]'" in imported(without, database, tmp_path)


def test_on_lambda_the_spans_are_told_before_the_answer(database: str, processes: Processes, told: Told) -> None:
    with runtime_api.runtime_api() as api, psycopg.connect(database, autocommit=True) as conn:
        world = LambdaWorld(database, conn, api, processes)
        world.start(CRONTICK_TRACES="otlp", OTEL_EXPORTER_OTLP_ENDPOINT=told.receiver.url)
        for nth, event in enumerate(({}, events.gateway2()), 1):
            job = world.enqueue("greet")
            assert not world.invoke(event).failed
            assert said(told.spans()["process greet"])["messaging.message.id"] == str(job)
            assert len(told.receiver.requests) == nth
        told.receiver.otherwise = Answer(hang=True)
        job = world.enqueue("greet")
        answer = world.invoke({}, seconds_left=20).answer
        assert ("the traces were not taken" in str(answer["warnings"]), world.status(job)) == (True, "succeeded")
        told.receiver.otherwise = Answer()
        assert "the traces" not in str(world.invoke({}).answer["warnings"])
