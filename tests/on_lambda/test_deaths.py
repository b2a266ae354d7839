"""A Lambda process is frozen, killed, or has a function that never ends: no job is lost, and none runs in two calls."""

import pytest

from tests.faults import doomed
from tests.on_lambda import events
from tests.on_lambda.world import World


@pytest.mark.parametrize("kind", ["never_ends", "swallows"])
@pytest.mark.parametrize("event", [{}, events.gateway2(), events.sqs("{}")], ids=["direct", "HTTP", "SQS"])
def test_a_process_that_cannot_be_emptied_ends_once_its_answer_was_posted(
    world: World, event: dict[str, object], kind: str
) -> None:
    child = world.start()
    job = world.enqueue(kind)
    assert not world.invoke(event).failed
    assert child.wait() == 1
    assert world.api.asked == 1, "it asked for another call, inside which the thread would have thawed"
    assert "this process ends after its last answer" in child.errors
    assert world.status(job) == "failed"
    world.start()
    assert world.invoke({}).answer["ran"]


@pytest.mark.parametrize("event", [{}, events.gateway2()], ids=["direct", "HTTP"])
def test_a_thread_that_ended_after_all_lets_the_process_go_on(world: World, event: dict[str, object]) -> None:
    world.start()
    job = world.enqueue("overstays")
    assert not world.invoke(event).failed
    assert world.status(job) == "failed"
    answer = world.invoke(event).answer
    assert answer.get("statusCode", 200) == 200


def test_under_a_wrapper_it_ends_before_the_next_call_claims_anything(world: World) -> None:
    child = world.start("tests.on_lambda.wrapped.handler")
    world.enqueue("never_ends")
    assert world.invoke({}).answer == {"ran": True}
    job = world.enqueue("greet")
    world.api.send({})
    assert child.wait() == 1
    assert (world.status(job), world.ticks()) == ("queued", 1)


def test_a_tick_that_fails_with_a_thread_running_ends_the_process_too(world: World) -> None:
    child = world.start(CRONTICK_BUDGET_SECONDS="10")
    world.enqueue("drops_its_database")
    assert world.invoke({}).error["errorType"] == "TickFailed"
    world.api.send({})
    assert child.wait() == 1


def test_a_function_that_blocks_the_loop_ends_the_process_long_before_the_call_does(world: World) -> None:
    child = world.start(CRONTICK_BUDGET_SECONDS="3")
    world.warm_up()
    job = world.enqueue("block")
    world.api.send({}, seconds_left=600)
    assert child.wait() == 70
    assert world.status(job) == "running"


def test_what_a_killed_call_held_runs_in_a_later_one(world: World) -> None:
    child = world.start()
    job = world.enqueue("wait")
    world.api.send({})
    assert child.line() == f"in {job}"
    child.kill()
    world.later("20 seconds")
    child = world.start()
    assert world.invoke({"crontick": "tick", "kinds": ["greet"]}).answer["rescued"] == 0
    world.later("16 seconds")
    world.api.send({})
    assert child.line() == f"in {job}"
    child.process.send_signal(doomed.GO_ON)
    assert child.line() == f"out {job}"
    answer = world.api.posted().answer
    assert (answer["rescued"], answer["succeeded"]) == (1, 1)


def test_a_minute_frozen_in_a_function_shuts_every_door_and_loses_the_outcome(world: World) -> None:
    frozen = world.start(CRONTICK_MODULES="tests.on_lambda.clock,tests.on_lambda.kinds")
    job = world.enqueue("tries_doors")
    world.api.send({})
    assert frozen.line() == f"in {job}"
    frozen.freeze()
    world.later("1 minute")
    other = world.start()
    assert world.invoke({"crontick": "tick", "kinds": ["greet"]}).answer["rescued"] == 1
    other.kill()
    frozen.process.send_signal(doomed.GO_ON)
    frozen.thaw()
    doors = ("once", "http", "db", "complete", "enqueue")
    assert [frozen.line() for _ in doors] == [f"{door} is shut {job}" for door in doors]
    assert world.api.posted().answer["lost"] == 1
    assert world.status(job) == "queued"
    assert world.invoke({"crontick": "tick", "kinds": ["greet"]}).answer["ran"]
