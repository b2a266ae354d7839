"""A call to AWS is one attempt, bounded in time, and what it says of a failure holds none of AWS's text."""

import subprocess
import sys

import pytest

from crontick.jobs.aws_client import AwsError, call_aws
from tests.worlds import aws_server
from tests.worlds.http_receiver import Answer, HttpReceiver

pytestmark = pytest.mark.anyio


async def test_it_calls_the_endpoint_and_region_of_the_environment(aws: str) -> None:
    made = await call_aws("scheduler", "create_schedule_group", {"Name": "ours"}, seconds=30)
    assert made["ScheduleGroupArn"].startswith(f"arn:aws:scheduler:{aws_server.REGION}:")
    with pytest.raises(AwsError, match="ResourceNotFoundException from scheduler") as raised:
        await call_aws("scheduler", "get_schedule_group", {"Name": "theirs"}, seconds=30)
    assert raised.value.code == "ResourceNotFoundException"


@pytest.mark.parametrize("answer", [Answer(status=429, body=b'{"message": "secret"}'), Answer(close=True)])
async def test_a_failing_call_is_made_once_and_tells_nothing_of_the_answer(
    played: HttpReceiver, answer: Answer
) -> None:
    played.otherwise = answer
    with pytest.raises(AwsError) as raised:
        await call_aws("scheduler", "get_schedule_group", {"Name": "ours"}, seconds=30)
    assert "secret" not in str(raised.value)
    assert len(played.requests) == 1


async def test_a_call_that_hangs_is_given_up(played: HttpReceiver) -> None:
    played.otherwise = Answer(hang=True)
    with pytest.raises(AwsError, match="no answer in time from scheduler"):
        await call_aws("scheduler", "get_schedule_group", {"Name": "ours"}, seconds=0.3)


async def test_no_proxy_variable_is_followed(played: HttpReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    played.otherwise = Answer(body=b"{}", headers={"content-type": "application/json"})
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    await call_aws("scheduler", "list_schedule_groups", {}, seconds=30)
    assert played.requests[0].target.startswith("/schedule-groups")


def test_importing_it_imports_no_botocore() -> None:
    said = "import sys, crontick.jobs.aws_client; print('botocore' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", said], capture_output=True, check=True, text=True)
    assert ran.stdout.strip() == "False"
