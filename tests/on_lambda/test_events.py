"""Every shape of event, through AWS's own runtime client: a tick, a refusal, or a clear error."""

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from crontick.handler.on_lambda.events import Batch, recognised
from crontick.jobs.request import TickRequest
from tests.on_lambda import events
from tests.on_lambda.events import BEARER, TOKEN
from tests.on_lambda.world import World

HTTP = {
    "HTTP API": events.gateway2(body="{}"),
    "HTTP API, named stage": events.gateway2("/prod/cron/tick", stage="prod"),
    "HTTP API, the other path": events.gateway2("/api/cron/tick"),
    "Function URL without a body": events.gateway2(),
    "Function URL, form": events.gateway2(body=base64.b64encode(b"{}").decode(), isBase64Encoded=True),
    "REST API": events.gateway1(),
    "HTTP API, payload 1.0, named stage": events.gateway1("/prod/cron/tick", version="1.0"),
    "ALB": events.load_balancer(),
    "ALB, multi-value headers": events.load_balancer(multiValueHeaders={"authorization": [BEARER], "host": ["lb"]}),
    "EventBridge as a Function URL": events.gateway2(headers={"host": "scheduler.invalid", "authorization": BEARER}),
}
TWO = f"Bearer wrong,{BEARER}"
REFUSED = {
    "no token": events.gateway2(headers={"host": "x"}),
    "two tokens, joined": events.gateway2(headers={"authorization": TWO}),
    "two tokens, REST API": events.gateway1(multiValueHeaders={"Authorization": ["Bearer wrong", BEARER]}),
    "two tokens, ALB": events.load_balancer(multiValueHeaders={"authorization": ["Bearer wrong", BEARER]}),
    "token in the query": events.gateway2(rawQueryString=f"token={TOKEN}", headers={"host": "x"}),
    "token in the query, ALB": {**events.load_balancer(), "queryStringParameters": {"x": TOKEN}},
}
DIRECT: dict[str, tuple[Any, str]] = {
    "rule": (events.eventbridge(), "eventbridge"),
    "rule on an event": (events.eventbridge(source="acme.orders", detail={"order": 1}), "eventbridge"),
    "schedule": (events.eventbridge(source="aws.scheduler", detail="{}"), "eventbridge-scheduler"),
    "schedule's own input": (events.scheduler_input(limit=5), "eventbridge-scheduler"),
    "sample of the guide": (events.of_the_guide(), "eventbridge"),
    "by hand": ({"crontick": "tick", "queues": ["default"]}, "lambda"),
    "by hand, named": ({"crontick": "tick", "trigger": "step-functions"}, "step-functions"),
    "nothing": ({}, "lambda"),
}
UNKNOWN: dict[str, Any] = {
    "console's test event": {"key1": "value1", "key2": "value2", "key3": "value3"},
    "a list": [{}],
    "a text": "tick",
    "nothing at all": None,
    "S3": {"Records": [{"eventSource": "aws:s3", "s3": {}}]},
    "SQS among others": {"Records": [*events.sqs("{}")["Records"], {"eventSource": "aws:s3"}]},
    "no records": {"Records": []},
    "WebSocket": {"requestContext": {"connectionId": "x", "stage": "prod"}, "body": "{}"},
    "2.0 without a request": {"version": "2.0", "requestContext": {}},
    "another action": events.scheduler_input(action="ping"),
    "a field that is none": {"crontick": "tick", "limt": 5},
    "a field out of range": {"crontick": "tick", "limit": 0},
    "a schedule's time not filled in": events.scheduler_input(scheduled_time="<aws.scheduler.scheduled-time>"),
    "migrate and more": {"crontick": "migrate", "force": True},
}


def test_each_request_over_http_with_the_token_is_a_tick(world: World) -> None:
    world.start()
    answers = {name: world.invoke(event).answer for name, event in HTTP.items()}
    assert {name: answer["statusCode"] for name, answer in answers.items()} == dict.fromkeys(HTTP, 200)
    assert [answer["isBase64Encoded"] for answer in answers.values()] == [False] * len(HTTP)
    assert all(json.loads(answer["body"])["ran"] for answer in answers.values())
    assert world.ticks() == len(HTTP)
    assert answers["ALB, multi-value headers"]["multiValueHeaders"]["content-type"] == ["application/json"]
    assert world.value("select host_request_id from crontick.ticks order by id limit 1").endswith("-000000000001")


def test_a_request_without_the_token_alone_is_refused_in_plain_words(world: World) -> None:
    world.start()
    answers = {name: world.invoke(event).answer for name, event in REFUSED.items()}
    assert {name: answer["statusCode"] for name, answer in answers.items()} == dict.fromkeys(REFUSED, 401)
    assert all(json.loads(answer["body"])["status"] == 401 for answer in answers.values())
    assert world.ticks() == 0


def test_a_health_check_and_a_broken_request_touch_no_database(world: World) -> None:
    world.start(CRONTICK_DATABASE_URL="postgresql://nobody@127.0.0.1:1/none")
    agent = {"user-agent": "ELB-HealthChecker/2.0"}
    assert world.invoke(events.load_balancer("/", method="GET", headers=agent)).answer["statusCode"] == 404
    assert world.invoke(events.load_balancer("/healthz", method="GET", headers=agent)).answer["statusCode"] == 200
    broken = world.invoke(events.gateway2(headers={"host": "a:b:c"})).answer
    assert (broken["statusCode"], json.loads(broken["body"])["title"]) == (400, "The request cannot be read")


def test_each_direct_event_is_a_tick_of_its_trigger(world: World) -> None:
    world.start()
    answers = {name: world.invoke(event).answer for name, (event, _) in DIRECT.items()}
    assert {name: answer["trigger"] for name, answer in answers.items()} == {
        name: trigger for name, (_, trigger) in DIRECT.items()
    }
    assert world.ticks() == len(DIRECT)
    told = world.value("select count(*) from crontick.ticks where scheduled_for = %s", events.AT)
    assert told == 5
    assert answers["schedule's own input"]["late_seconds"] is not None


def test_a_batch_of_sqs_is_one_tick_and_never_fails_for_its_records(world: World) -> None:
    world.start()
    job = world.enqueue("greet")
    assert world.invoke(events.sqs('{"action":"tick"}', "not json")).answer == {"batchItemFailures": []}
    assert world.status(job) == "succeeded"
    assert world.value("select trigger from crontick.ticks") == "sqs"


@pytest.mark.parametrize("sent", ["9" * 15, "9" * 30, "9" * 5000, "-1", "\u0661", ""])
def test_a_time_of_sqs_that_is_none_counts_as_not_told(sent: str) -> None:
    record: dict[str, Any] = {"eventSource": "aws:sqs", "attributes": {"SentTimestamp": sent}}
    assert recognised({"Records": [record]}) == Batch(TickRequest())
    record["attributes"] = {"SentTimestamp": "1780000000000"}
    told = recognised({"Records": [record]})
    assert isinstance(told, Batch)
    assert told.request.scheduled_for == datetime(2026, 5, 28, 20, 26, 40, tzinfo=UTC)


def test_any_other_event_is_an_error_that_lists_those_that_are_known(world: World) -> None:
    world.start()
    errors = {name: world.invoke(event).error for name, event in UNKNOWN.items()}
    assert {name: error["errorType"] for name, error in errors.items()} == dict.fromkeys(UNKNOWN, "UnknownEvent")
    assert "records of SQS" in errors["console's test event"]["errorMessage"]
    assert "no field 'limt'" in errors["a field that is none"]["errorMessage"]
    assert "scheduled_for must be a time" in errors["a schedule's time not filled in"]["errorMessage"]
    assert world.ticks() == 0


@pytest.mark.parametrize("url", [True, False], ids=["with its URL", "without"])
def test_migrate_needs_a_url_of_its_own(world: World, raw_database: str, *, url: bool) -> None:
    world.start(CRONTICK_DATABASE_URL=raw_database, **({"CRONTICK_MIGRATE_URL": raw_database} if url else {}))
    posted = world.invoke({"crontick": "migrate"})
    if url:
        assert "migrations/0001_tables.sql" in posted.answer["ran"]
        assert world.invoke({"crontick": "migrate"}).answer == {"ran": []}
        assert world.invoke({}).answer["ran"]
    else:
        assert posted.error["errorType"] == "TickFailed"
        assert posted.error["errorMessage"].startswith("CRONTICK_MIGRATE_URL is not set")
