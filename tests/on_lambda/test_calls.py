"""From call to call in one process: one loop, one connection, and nothing left over from the call before."""

import json
import os
import signal
from typing import Any

import pytest

from tests.on_lambda import events
from tests.on_lambda.world import World
from tests.worlds.waiting import until

OURS = "select count(*) from pg_stat_activity where application_name = 'crontick' and datname = current_database()"


def test_a_cold_call_and_a_warm_one_run_what_is_due(world: World) -> None:
    world.start()
    for _ in range(2):
        job = world.enqueue("greet")
        assert world.invoke(events.eventbridge()).answer["succeeded"] == 1
        assert world.status(job) == "succeeded"
    assert world.api.init_errors == []


def test_an_event_that_comes_twice_runs_no_job_twice(world: World) -> None:
    world.start()
    job = world.enqueue("note")
    first, again = [world.invoke(events.eventbridge()).answer["claimed"] for _ in range(2)]
    assert (first, again) == (1, 0)
    assert world.value("select count(*) from ran where job = %s", job) == 1


def test_fifty_calls_use_one_connection(world: World) -> None:
    world.start()
    counts = set()
    for nth in range(50):
        event = events.gateway2() if nth % 2 else {}
        assert not world.invoke(event).failed
        counts.add(world.value(OURS))
    assert counts <= {0, 1}  # the first tick expects no other so soon, and closes its own


def test_a_connection_that_was_dropped_while_frozen_is_replaced(world: World) -> None:
    child = world.start()
    world.warm_up()
    until(lambda: world.value(OURS) == 1)
    child.freeze()
    world.conn.execute("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'crontick'")
    until(lambda: world.value(OURS) == 0)
    child.thaw()
    job = world.enqueue("greet")
    assert world.invoke({}).answer["succeeded"] == 1
    assert world.status(job) == "succeeded"


def test_a_short_call_claims_only_what_fits(world: World) -> None:
    world.start()
    world.warm_up()
    job = world.enqueue("greet")  # needs 10 s
    answer = world.invoke({}, seconds_left=4.2).answer
    assert (answer["claimed"], answer["more"]) == (0, True)
    assert answer["warnings"][-1].startswith("this call left 1.")
    assert world.status(job) == "queued"
    assert world.invoke({}, seconds_left=20).answer["succeeded"] == 1


def test_a_call_too_short_for_a_tick_says_so(world: World) -> None:
    world.start()
    world.enqueue("greet")
    error = world.invoke({}, seconds_left=3).error
    assert error["errorType"] == "TickFailed"
    assert "a tick needs 3.5 at least: give it a timeout of 30 s or more" in error["errorMessage"]
    assert world.invoke(events.gateway2(), seconds_left=3).answer["statusCode"] == 503
    assert world.ticks() == 0


def test_the_lease_ends_after_the_call_and_the_tick_before_it(world: World) -> None:
    child = world.start(CRONTICK_MAX_BUDGET_SECONDS="900")
    job = world.enqueue("wait")
    world.api.send({"crontick": "tick", "budget_seconds": 900}, seconds_left=60)
    assert child.line() == f"in {job}"
    row = world.conn.execute(
        "select extract(epoch from c.lease_expires_at - t.started_at), extract(epoch from t.deadline - t.started_at)"
        " from crontick.claims as c, crontick.ticks as t"
    ).fetchone()
    assert row is not None
    lease, deadline = map(float, row)
    assert 60 < lease < 66
    assert lease - deadline == pytest.approx(5 + 3, abs=0.05)


@pytest.mark.parametrize("event", [{}, events.gateway2()], ids=["direct", "HTTP"])
def test_what_a_function_leaves_in_the_loop_is_ended_with_its_call(world: World, event: dict[str, object]) -> None:
    child = world.start()
    job = world.enqueue("leaves_a_task")
    assert not world.invoke(event).failed
    assert world.status(job) == "succeeded"
    assert child.line() == "the task was ended"
    assert world.invoke({}).answer["ran"]


def test_embedded_metrics_are_a_line_on_stdout_that_is_nothing_but_json(world: World) -> None:
    child = world.start(CRONTICK_METRICS="emf")
    assert world.invoke({}).answer["ran"]
    told = json.loads(child.line())
    assert (told["ticks"], told["environment"], told["_aws"]["CloudWatchMetrics"][0]["Namespace"]) == (
        1,
        "test",
        "crontick",
    )


def test_summaries_are_logged_once_as_lambda_reads_them(world: World) -> None:
    child = world.start()
    summary = world.api.invoke({}, request_id="7").answer
    world.invoke(events.gateway2())
    lines: list[dict[str, Any]] = [json.loads(line) for line in child.errors.splitlines()]
    assert [(line["level"], line["message"], line["trigger"]) for line in lines] == [
        ("INFO", "tick", "lambda"),
        ("INFO", "tick", "curl"),
    ]
    assert (lines[0]["tick"], lines[0]["requestId"]) == (summary["tick"], "7")
    assert lines[0]["timestamp"].endswith("+00:00")
    child.kill()
    assert child.rest() == []  # where AWS's client would have repeated them


def test_a_kept_connection_gone_silent_delays_a_tick_and_fails_none(world: World) -> None:
    world.start()
    world.warm_up()
    backend = world.value("select pid from pg_stat_activity where application_name = 'crontick'")
    os.kill(backend, signal.SIGSTOP)
    try:
        job = world.enqueue("greet")
        assert world.invoke({}).answer["succeeded"] == 1
    finally:
        os.kill(backend, signal.SIGCONT)
    assert world.status(job) == "succeeded"
