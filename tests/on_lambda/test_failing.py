"""What cannot tick says so at each call, in a sentence, without a secret, and never by dying at its start."""

import json
from pathlib import Path

import pytest

from tests.on_lambda import events
from tests.on_lambda.events import TOKEN
from tests.on_lambda.world import World

NOWHERE = "postgresql://app:hunter2-hunter2@127.0.0.1:1/app"
FAULTY = {
    "a short secret": ({"CRON_SECRET": "short"}, "CRON_SECRET is shorter than 16 characters"),
    "no module": ({"CRONTICK_MODULES": "acme.nowhere"}, "Python finds no module acme"),
    "a broken module": (
        {"CRONTICK_MODULES": "tests.on_lambda.unimportable"},
        "which cannot be imported: RuntimeError: cannot use [redacted]",
    ),
    "no file": ({"CRONTICK_CONFIG": "/nowhere.toml"}, "there is no file /nowhere.toml"),
    "no database": ({"CRONTICK_DATABASE_URL": ""}, "CRONTICK_DATABASE_URL is not set"),
    "no way there": ({"CRONTICK_BUDGET_SECONDS": "1"}, "the database is out of reach, or waking"),
    "a fault of ours": ({"CRONTICK_MODULES": "tests.on_lambda.broken"}, "RuntimeError, a fault of crontick"),
}


@pytest.mark.parametrize(("settings", "said"), FAULTY.values(), ids=FAULTY)
def test_each_call_says_what_is_wrong_and_no_secret(world: World, settings: dict[str, str], said: str) -> None:
    child = world.start(**{"CRONTICK_DATABASE_URL": NOWHERE, **settings})
    for _ in range(2):
        error = world.invoke({}).error
        assert error["errorType"] == "TickFailed"
        assert said in error["errorMessage"]
        answer = world.invoke(events.gateway2()).answer
        assert answer["statusCode"] in (500, 503)
        assert json.loads(answer["body"])["type"].endswith(("#unavailable", "#fault"))
        assert "hunter2" not in json.dumps([error, answer])
        assert "CRON_SECRET" not in answer["body"], "anybody may read this"
    assert said in child.errors or said in error["errorMessage"]
    assert world.api.init_errors == []
    child.kill()
    written = child.errors + "\n".join(child.rest())
    assert "hunter2" not in written
    assert TOKEN not in written


def test_what_is_mended_between_two_calls_is_found(world: World, tmp_path: Path) -> None:
    config = tmp_path / "crontick.toml"
    config.write_text("strict_kinds = maybe")
    world.start(CRONTICK_CONFIG=str(config))
    assert "crontick.toml:1" in world.invoke({}).error["errorMessage"]
    assert world.invoke(events.gateway2()).answer["statusCode"] == 503
    config.write_text("strict_kinds = true")
    assert world.invoke(events.gateway2()).answer["statusCode"] == 200
    assert world.invoke({}).answer["ran"]


def test_without_cron_secret_direct_events_tick_and_the_path_is_not_there(world: World) -> None:
    world.start(CRON_SECRET="")
    assert world.invoke(events.eventbridge()).answer["ran"]
    assert world.invoke(events.gateway2()).answer["statusCode"] == 404
    assert world.ticks() == 1


def test_jobs_that_fail_are_no_failure_of_the_tick(world: World) -> None:
    world.start(CRONTICK_MODULES="tests.cli.acme")
    job = world.enqueue("break_at_once")
    assert world.invoke(events.sqs("{}")).answer == {"batchItemFailures": []}
    assert world.status(job) == "dead"


def test_a_batch_whose_tick_failed_comes_again(world: World) -> None:
    world.start(CRONTICK_DATABASE_URL=NOWHERE, CRONTICK_BUDGET_SECONDS="1")
    assert world.invoke(events.sqs("{}")).error["errorType"] == "TickFailed"


def test_who_may_not_migrate_is_told_so(world: World) -> None:
    child = world.start(CRONTICK_MIGRATE_URL=NOWHERE)
    said = world.invoke({"crontick": "migrate"}).error["errorMessage"]
    assert said == "the migration did not run: the database is out of reach, or waking"
    child.kill()
    world.conn.execute("update crontick.installation set environment = 'production'")
    world.start(CRONTICK_MIGRATE_URL=world.url)
    said = world.invoke({"crontick": "migrate"}).error["errorMessage"]
    assert said.startswith('the migration did not run: this database belongs to the environment "production"')
