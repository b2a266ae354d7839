"""After each tick EventBridge Scheduler has one alarm at the next due time, whatever became of those before."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.session
import pytest

from crontick.jobs import kind
from crontick.jobs.wake.alarm import Alarm
from tests.wake.conftest import EVENTBRIDGE, FUNCTION, ROLE, Waking
from tests.worlds.http_receiver import Answer, HttpReceiver

pytestmark = pytest.mark.anyio
MINUTE = timedelta(minutes=1)


@kind("note")
async def note(_: dict[str, Any]) -> None: ...


def scheduler() -> Any:
    return botocore.session.get_session().create_client("scheduler", region_name="eu-central-1")


def alarms() -> dict[str, Any]:
    """By name, soonest first."""
    found = [one["Name"] for one in scheduler().list_schedules()["Schedules"]]
    return {name: scheduler().get_schedule(Name=name) for name in sorted(found)}


def name_of(at: datetime, function: str = FUNCTION) -> str:
    return Alarm(at.astimezone(UTC)).name(function, '{"crontick": "tick", "trigger": "wake"}')


async def test_the_next_due_time_has_an_alarm_which_nobody_moves_and_which_heals(world: Waking, aws: str) -> None:
    world.configure(EVENTBRIDGE)
    assert (await world.tick(note)).wake_at is None, "nothing is to come"
    assert alarms() == {}
    await world.enqueue(7000)
    first = await world.tick(note)
    assert first.warnings == ["the test clock is installed: times may be moved"]
    assert first.next_due_at is not None
    assert first.wake_at is not None
    assert timedelta(0) <= first.wake_at - first.next_due_at < MINUTE
    assert first.as_dict()["wake_at"] == f"{first.wake_at:%Y-%m-%dT%H:%M:00Z}"
    [(name, alarm)] = alarms().items()
    assert name == name_of(first.wake_at)
    assert alarm["ScheduleExpression"] == f"at({first.wake_at:%Y-%m-%dT%H:%M}:00)"
    assert (alarm["ScheduleExpressionTimezone"], alarm["ActionAfterCompletion"]) == ("UTC", "DELETE")
    assert alarm["Target"]["RoleArn"] == ROLE
    assert json.loads(alarm["Target"]["Input"]) == {"crontick": "tick", "trigger": "wake"}
    state = await world.one("select wake_at from crontick.ticks order by id desc limit 1")
    assert state == first.wake_at

    again = await world.tick(note)
    assert (again.wake_at, again.warnings) == (first.wake_at, first.warnings), "one that is set is as good"

    await world.enqueue(3000)
    earlier = await world.tick(note)
    assert earlier.wake_at is not None
    assert list(alarms()) == [name_of(earlier.wake_at), name_of(first.wake_at)]

    scheduler().delete_schedule(Name=name_of(earlier.wake_at))
    await world.tick(note)
    assert name_of(earlier.wake_at) in alarms(), "a lost alarm is set again by the next tick"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (
            Answer(status=429, body=b"{}", headers={"x-amzn-errortype": "ThrottlingException"}),
            "ThrottlingException from scheduler",
        ),
        (Answer(hang=True), "no answer"),
    ],
    ids=["throttled", "hangs"],
)
async def test_a_platform_that_fails_fails_no_tick_and_is_asked_again_by_the_next(
    world: Waking, played: HttpReceiver, answer: Answer, said: str
) -> None:
    world.configure(EVENTBRIDGE + ("timeout = 1\n" if answer.hang else ""))
    job = await world.enqueue(-1)
    await world.enqueue(7000)
    played.otherwise = answer
    failed = await world.tick(note)
    assert (failed.ran, failed.succeeded, failed.wake_at) == (True, 1, None)
    assert await world.status(job) == ["succeeded"]
    [warning] = [warning for warning in failed.warnings if "alarm" in warning]
    assert warning.startswith(f"no alarm was set: {said}")
    played.otherwise = Answer(body=b"{}", headers={"content-type": "application/json"})
    world.configure(EVENTBRIDGE)
    assert (await world.tick(note)).wake_at is not None


async def test_deployments_that_share_a_group_do_not_take_each_others_alarms_for_their_own(
    world: Waking, aws: str
) -> None:
    await world.enqueue(7000)
    world.configure(EVENTBRIDGE)
    first = (await world.tick(note)).wake_at
    world.configure(EVENTBRIDGE.replace(FUNCTION, f"{FUNCTION}-staging"))
    assert (await world.tick(note)).wake_at == first
    assert first is not None
    for function in (FUNCTION, f"{FUNCTION}-staging"):
        assert alarms()[name_of(first, function)]["Target"]["Arn"] == function


async def test_an_alarm_that_came_before_its_time_by_a_slow_database_is_not_taken_for_the_next(
    world: Waking, played: HttpReceiver
) -> None:
    played.otherwise = Answer(body=b"{}", headers={"content-type": "application/json"})
    world.configure(EVENTBRIDGE)
    await world.later(-240)
    await world.enqueue(20)
    called_at = datetime.now(UTC)
    wake_at = (await world.tick(note, trigger="wake")).wake_at
    assert wake_at is not None
    assert wake_at > called_at, "by the clock of whoever is to call"


async def test_what_is_left_because_time_or_room_ran_out_has_an_alarm_at_the_next_minute(
    world: Waking, played: HttpReceiver
) -> None:
    played.otherwise = Answer(body=b"{}", headers={"content-type": "application/json"})
    world.configure(EVENTBRIDGE)
    for _ in range(2):
        await world.enqueue(-1)
    summary = await world.tick(note, limit=1)
    assert (summary.more, summary.wake_at is not None) == (True, True)
    assert summary.wake_at is not None
    assert summary.wake_at - await world.now() < 2 * MINUTE
    assert summary.wake_at.second == 0
    [request] = played.requests
    assert request.target == f"/schedules/{name_of(summary.wake_at)}"


async def test_a_watcher_and_environments_where_things_are_tried_out_wake_nobody(
    world: Waking, played: HttpReceiver
) -> None:
    world.configure(EVENTBRIDGE)
    await world.enqueue(7000)
    assert (await world.tick(note, trigger="watch")).wake_at is None
    for environment in ("demo", "dev", "test"):
        world.settings["environment"] = environment
        await world.rows("update crontick.installation set environment = %s", environment)
        assert (await world.tick(note)).wake_at is None
    assert played.requests == []
