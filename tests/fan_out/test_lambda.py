"""On Lambda a tick invokes its own function, asynchronously, and the platform's queue is where the others wait."""

import base64
import io
import json
import zipfile
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from crontick.jobs.aws_client import call_aws
from tests.fan_out.conftest import World
from tests.worlds import aws_server
from tests.worlds.http_receiver import Answer

ROLE = {
    "RoleName": "ticks",
    "AssumeRolePolicyDocument": json.dumps({"Version": "2012-10-17", "Statement": []}),
}
FUNCTION = {"FunctionName": "crontick", "Runtime": "python3.12", "Handler": "crontick.handler.aws.handler"}


def told(url: str, body: object = None) -> bytes:
    with urlopen(Request(url, data=None if body is None else json.dumps(body).encode())) as answer:
        return bytes(answer.read())


async def made_function() -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("app.py", "")
    role = await call_aws("iam", "create_role", ROLE, seconds=60)
    code = {"ZipFile": archive.getvalue()}
    await call_aws("lambda", "create_function", {**FUNCTION, "Role": role["Role"]["Arn"], "Code": code}, seconds=60)


def on_lambda(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    for name, value in aws_server.environ(url).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "crontick")


async def test_the_platform_takes_two_invocations_of_this_very_function(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MOTO_RECORDER_FILEPATH", str(tmp_path / "recording"))
    await world.enqueue(30)
    with aws_server.aws_server() as url:
        on_lambda(monkeypatch, url)
        told(f"{url}/moto-api/config", {"lambda": {"use_docker": False}})
        await made_function()
        told(f"{url}/moto-api/recorder/start-recording", {})
        summary = await world.tick(limit=10, depth=2)
        recorded = [json.loads(line) for line in told(f"{url}/moto-api/recorder/download-recording").splitlines()]
    assert (summary.asked, summary.succeeded, summary.warnings[1:]) == (2, 10, [])
    for request in recorded:
        assert request["url"].endswith("/2015-03-31/functions/crontick/invocations")
        headers = {name.lower(): value for name, value in request["headers"].items()}
        assert headers["x-amz-invocation-type"] == "Event"
        assert payload_of(request) == {"crontick": "tick", "limit": 10, "trigger": "fan-out", "depth": 3}
    assert len(recorded) == 2
    assert world.receiver.requests == []


def payload_of(recorded: dict[str, Any]) -> object:
    body = recorded["body"]
    return json.loads(base64.b64decode(body) if recorded.get("body_encoded") else body)


async def test_a_published_version_invokes_itself_and_a_refusal_names_its_mend(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_lambda(monkeypatch, world.receiver.url)
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_VERSION", "7")
    denied = {"content-type": "application/json", "x-amzn-errortype": "AccessDeniedException"}
    world.receiver.answers.append(Answer(status=202, body=b""))
    world.receiver.answers.append(Answer(status=403, body=b'{"Message": "arn:aws:iam::1:secret"}', headers=denied))
    await world.enqueue(30)
    summary = await world.tick(limit=10)
    assert (summary.asked, summary.succeeded) == (1, 10)
    [warning] = summary.warnings[1:]
    assert "lambda:InvokeFunction" in warning
    assert "secret" not in warning
    assert {r.target for r in world.receiver.requests} == {"/2015-03-31/functions/crontick/invocations?Qualifier=7"}


async def test_a_platform_that_does_not_answer_does_not_hold_the_tick_beyond_its_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_lambda(monkeypatch, world.receiver.url)
    world.receiver.otherwise = Answer(hang=True)
    await world.enqueue(30)
    summary = await world.tick(limit=10, budget_seconds=1)
    assert summary.asked == 0
    assert any("it could not be sent within 1 s" in warning for warning in summary.warnings), summary.warnings


async def test_on_lambda_too_a_url_in_the_file_is_asked_where_there_is_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_lambda(monkeypatch, "http://127.0.0.1:1")
    world.fan_out = {"url": f"{world.receiver.url}/inside/cron/tick"}
    await world.enqueue(30)
    assert (await world.tick(limit=10)).asked == 2
    assert {request.target for request in world.receiver.requests} == {"/inside/cron/tick"}
