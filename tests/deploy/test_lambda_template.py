"""The SAM template of deploy/lambda: what each of its parameters makes, and that AWS's own tools take it."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from crontick.handler.on_lambda.events import Direct, recognised
from crontick.jobs.bounds import Bounds
from crontick.jobs.emf import NAMESPACE, documents
from crontick.jobs.settings import Settings
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary
from tests.deploy.cloudformation import ACCOUNT, REGION, resources, translated
from tests.on_lambda import events

ROOT: Final = Path(__file__).parents[2]
TEMPLATE: Final = ROOT / "deploy/lambda/template.yaml"
SECRET: Final = f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:crontick-AbCdEf"
LAYER: Final = f"arn:aws:lambda:{REGION}:{ACCOUNT}:layer:AWS-Parameters-and-Secrets-Lambda-Extension-Arm64:1"
FUNCTION: Final = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:crontick"
QUEUE: Final = f"arn:aws:sqs:{REGION}:{ACCOUNT}:crontick-Undelivered"
VPC: Final = {"VpcId": "vpc-1", "SubnetIds": "subnet-1,subnet-2", "SecurityGroupIds": "sg-1"}


def made(**parameters: str) -> dict[str, dict[str, Any]]:
    """The properties of each resource of a stack with these parameters, by name."""
    given = {"Secret": SECRET, "SecretsExtension": LAYER, **parameters}
    found = resources(translated(TEMPLATE, given), given)
    return {name: {"Type": resource["Type"], **resource.get("Properties", {})} for name, resource in found.items()}


def of_type(stack: Mapping[str, dict[str, Any]], *services: str) -> set[str]:
    return {name for name, resource in stack.items() if resource["Type"].startswith(services)}


def allowed(stack: Mapping[str, dict[str, Any]], role: str = "crontick-Role") -> dict[str, Any]:
    """What the role may do, and to what."""
    documents = [policy["PolicyDocument"] for policy in stack[role.removeprefix("crontick-")].get("Policies", [])]
    documents += [one["PolicyDocument"] for one in stack.values() if role in one.get("Roles", [])]
    statements = [statement for document in documents for statement in document["Statement"]]
    return {
        action: statement["Resource"]
        for statement in statements
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
    }


def test_cfn_lint_finds_nothing() -> None:
    command = [str(Path(sys.executable).with_name("cfn-lint")), str(TEMPLATE)]
    linted = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    assert (linted.returncode, linted.stdout) == (0, "")


def test_by_default_nothing_is_public_and_the_schedule_calls_the_function() -> None:
    stack = made()
    assert not of_type(stack, "AWS::Lambda::Url", "AWS::Lambda::Permission", "AWS::ApiGatewayV2", "AWS::EC2")
    target = stack["Schedule"]["Target"]
    assert (target["Arn"], target["DeadLetterConfig"]["Arn"]) == (FUNCTION, QUEUE)
    asked = recognised(json.loads(target["Input"].replace("<aws.scheduler.scheduled-time>", events.AT)))
    assert isinstance(asked, Direct)
    assert asked.request.scheduled_for is not None
    assert allowed(stack, "crontick-SchedulerRole") == {"lambda:InvokeFunction": FUNCTION, "sqs:SendMessage": QUEUE}
    function = stack["Function"]
    assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert function["Handler"] == "crontick.handler.aws.handler"
    assert {"ReservedConcurrentExecutions", "VpcConfig"} & set(function) == set()
    assert set(allowed(stack)) == {
        "logs:CreateLogStream",
        "logs:PutLogEvents",
        "sqs:SendMessage",
        "secretsmanager:GetSecretValue",
    }


@pytest.mark.parametrize("seconds", [30, 60, 120, 300, 900])
def test_one_parameter_sets_budget_limit_and_lease(seconds: int) -> None:
    function = made(TimeoutSeconds=str(seconds))["Function"]
    assert function["Timeout"] == str(seconds)
    variables = function["Environment"]["Variables"]
    settings = Settings.from_environ({name: value for name, value in variables.items() if not name.endswith("_FROM")})
    assert 0.8 * seconds < settings.budget_seconds <= settings.max_budget_seconds <= seconds - 3
    bounds = Bounds(100, 20, settings.budget_seconds, host_limit_seconds=seconds, stop=Stop())
    assert settings.budget_seconds < seconds < bounds.lease_seconds


@pytest.mark.parametrize("minutes", ["1", "5", "10", "15", "30", "60"])
def test_a_tick_is_repeated_until_the_next_one_comes_and_missed_after_three(minutes: str) -> None:
    stack = made(EveryMinutes=minutes)
    seconds = int(minutes) * 60
    schedule, asynchronous, missing = stack["Schedule"], stack["FunctionEventInvokeConfig"], stack["MissingTicks"]
    assert schedule["ScheduleExpression"] == f"rate({minutes} minute{'' if minutes == '1' else 's'})"
    assert schedule["Target"]["RetryPolicy"] == {"MaximumRetryAttempts": 3, "MaximumEventAgeInSeconds": str(seconds)}
    assert (asynchronous["MaximumRetryAttempts"], asynchronous["MaximumEventAgeInSeconds"]) == (2, str(seconds))
    assert asynchronous["DestinationConfig"]["OnFailure"]["Destination"] == QUEUE
    assert int(missing["Period"]) == max(3 * seconds, 300)
    assert (missing["TreatMissingData"], missing["ComparisonOperator"]) == ("breaching", "LessThanThreshold")


def test_a_function_url_has_both_permissions_and_its_secrets() -> None:
    stack = made(Http="function-url")
    assert of_type(stack, "AWS::Lambda::Url", "AWS::ApiGatewayV2") == {"Url"}
    both = [stack[name] for name in ("UrlPermission", "UrlInvokePermission")]
    assert [(one["Action"], one["Principal"], one["FunctionName"]) for one in both] == [
        ("lambda:InvokeFunctionUrl", "*", "crontick"),
        ("lambda:InvokeFunction", "*", "crontick"),
    ]
    # Without these, everybody could invoke the function itself, which migrates.
    assert (both[0]["FunctionUrlAuthType"], both[1]["InvokedViaFunctionUrl"]) == ("NONE", True)
    assert {"CRON_SECRET_FROM", "CRONTICK_ADMIN_SECRET_FROM"} < set(stack["Function"]["Environment"]["Variables"])


def test_an_http_api_may_invoke_the_function_and_is_throttled() -> None:
    stack = made(Http="http-api")
    assert "Url" not in stack
    assert stack["ApiRoute"]["Target"] == "integrations/crontick-ApiIntegration"
    assert stack["ApiPermission"]["SourceArn"] == f"arn:aws:execute-api:{REGION}:{ACCOUNT}:crontick-Api/*"
    assert stack["ApiStage"]["DefaultRouteSettings"] == {"ThrottlingRateLimit": 20, "ThrottlingBurstLimit": 40}


def test_secrets_come_from_either_store_by_reference_alone() -> None:
    key = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/1"
    stack = made(Secret="", ParameterPath="/crontick/production", KmsKey=key, Migrate="no", Http="function-url")
    variables = stack["Function"]["Environment"]["Variables"]
    assert {name: value for name, value in variables.items() if "URL" in name or "SECRET" in name} == {
        f"{name}_FROM": f"aws-ssm:/crontick/production/{name}"
        for name in ("CRONTICK_DATABASE_URL", "CRON_SECRET", "CRONTICK_ADMIN_SECRET")
    }
    granted = allowed(stack)
    path = f"arn:aws:ssm:{REGION}:{ACCOUNT}:parameter/crontick/production/*"
    assert (granted["ssm:GetParameter"], granted["kms:Decrypt"]) == (path, key)
    assert "secretsmanager:GetSecretValue" not in granted


def test_in_a_vpc_the_function_gets_its_subnets_and_endpoints_only_where_no_nat_is() -> None:
    stack = made(Network="vpc-with-nat", **VPC)
    assert stack["Function"]["VpcConfig"] == {"SubnetIds": ["subnet-1", "subnet-2"], "SecurityGroupIds": ["sg-1"]}
    [managed] = stack["Role"]["ManagedPolicyArns"]
    assert managed.endswith("AWSLambdaVPCAccessExecutionRole")
    assert not of_type(stack, "AWS::EC2")
    stack = made(Network="vpc-without-nat", FanOut="yes", Wake="yes", **VPC)
    endpoints = sorted(of_type(stack, "AWS::EC2::VPCEndpoint"))
    assert [stack[name]["ServiceName"].rpartition(".")[2] for name in endpoints] == [
        "lambda",
        "secretsmanager",
        "scheduler",
    ]
    assert set(stack) >= {"EndpointSecurityGroup"}
    assert of_type(made(Network="vpc-without-nat", **VPC), "AWS::EC2::VPCEndpoint") == {"StoreEndpoint"}


def test_fan_out_and_wake_get_their_rights_only_when_asked() -> None:
    assert allowed(made(FanOut="yes"))["lambda:InvokeFunction"] == FUNCTION
    stack = made(Wake="yes")
    granted = allowed(stack)
    assert "lambda:InvokeFunction" not in granted
    schedules = f"arn:aws:scheduler:{REGION}:{ACCOUNT}:schedule/crontick/*"
    for verb in ("Create", "Get", "Update", "Delete"):
        assert granted[f"scheduler:{verb}Schedule"] == schedules
    assert granted["iam:PassRole"] == f"arn:aws:iam::{ACCOUNT}:role/crontick-SchedulerRole"
    variables = stack["Function"]["Environment"]["Variables"]
    assert (variables["WAKE_TARGET_ARN"], variables["WAKE_ROLE_ARN"]) == (FUNCTION, granted["iam:PassRole"])
    assert not {name for name in made()["Function"]["Environment"]["Variables"] if name.startswith("WAKE")}


def test_alarms_read_what_is_written_and_are_told_where_a_topic_is() -> None:
    topic = f"arn:aws:sns:{REGION}:{ACCOUNT}:alarms"
    stack = made(AlarmTopic=topic, Environment="staging")
    alarms = {name: stack[name] for name in of_type(stack, "AWS::CloudWatch::Alarm")}
    assert {name: alarm["MetricName"] for name, alarm in alarms.items()} == {
        "MissingTicks": "ticks",
        "Errors": "Errors",
        "UndeliveredTicks": "ApproximateNumberOfMessagesVisible",
        "DeadJobs": "dead",
        "OldestDue": "oldest_due_seconds",
        "Doubts": "doubts",
    }
    assert all(alarm["AlarmActions"] == alarm["OKActions"] == [topic] for alarm in alarms.values())
    ours = [alarm for alarm in alarms.values() if alarm["Namespace"] == NAMESPACE]
    assert {alarm["MetricName"] for alarm in ours} <= set(next(documents(Summary("curl"), "staging", 1)))
    assert [alarm["Dimensions"] for alarm in ours] == [[{"Name": "environment", "Value": "staging"}]] * 4
    stack = made(Metrics="none")
    assert of_type(stack, "AWS::CloudWatch::Alarm") == {"MissingTicks", "Errors", "UndeliveredTicks"}
    assert (stack["MissingTicks"]["Namespace"], stack["MissingTicks"]["MetricName"]) == ("AWS/Lambda", "Invocations")
    assert not any("AlarmActions" in stack[name] for name in of_type(stack, "AWS::CloudWatch::Alarm"))
    assert "CRONTICK_METRICS" not in stack["Function"]["Environment"]["Variables"]
