"""The template's stack created in moto: what its CloudFormation knows, and the rest by the API's own calls."""

import io
import json
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import botocore.session
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from crontick.jobs.config import read_config
from crontick.jobs.redact import Redactor
from crontick.jobs.tick_secrets import TickSecrets
from crontick.jobs.wake.alarm import Alarm
from crontick.jobs.wake.eventbridge import arm
from tests.deploy.cloudformation import REGION, resources, translated
from tests.deploy.test_lambda_template import SECRET, TEMPLATE

README: Final = TEMPLATE.with_name("README.md")


class Call(NamedTuple):
    """What creates a resource that moto's CloudFormation does not know."""

    service: str
    name: str
    takes_name: str | None = None
    answers_name: str | None = None


CREATED_BY: Final = {
    "AWS::ApiGatewayV2::Api": Call("apigatewayv2", "create_api", answers_name="ApiId"),
    "AWS::ApiGatewayV2::Integration": Call("apigatewayv2", "create_integration", answers_name="IntegrationId"),
    "AWS::ApiGatewayV2::Route": Call("apigatewayv2", "create_route"),
    "AWS::ApiGatewayV2::Stage": Call("apigatewayv2", "create_stage"),
    "AWS::CloudWatch::Alarm": Call("cloudwatch", "put_metric_alarm", takes_name="AlarmName"),
    "AWS::Lambda::EventInvokeConfig": Call("lambda", "put_function_event_invoke_config"),
    "AWS::Lambda::Url": Call("lambda", "create_function_url_config"),
    "AWS::Scheduler::Schedule": Call("scheduler", "create_schedule", takes_name="Name"),
    "AWS::Scheduler::ScheduleGroup": Call("scheduler", "create_schedule_group", answers_name="ScheduleGroupArn"),
}
NAMED_BY_OTHERS: Final = {"AWS::ApiGatewayV2::Api", "AWS::Scheduler::ScheduleGroup"}
"""Of these, the ones that a resource of the stack names: they come first."""
BY_ANOTHER_NAME: Final = {"TargetFunctionArn": "FunctionName"}


class Account:
    """An AWS account in this process, with what a stack finds there."""

    def __init__(self) -> None:
        self._session = botocore.session.Session()
        self._session.set_credentials("testing", "testing")
        vpc = self.client("ec2").create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        subnets = [
            self.client("ec2").create_subnet(VpcId=vpc, CidrBlock=f"10.0.{nth}.0/24")["Subnet"]["SubnetId"]
            for nth in range(2)
        ]
        group = self.client("ec2").create_security_group(GroupName="app", Description="app", VpcId=vpc)["GroupId"]
        self.vpc = {"VpcId": vpc, "SubnetIds": ",".join(subnets), "SecurityGroupIds": group}
        self.client("s3").create_bucket(Bucket="code")
        self.client("s3").put_object(Bucket="code", Key="function.zip", Body=_zip())
        layer = self.client("lambda").publish_layer_version(
            LayerName="AWS-Parameters-and-Secrets-Lambda-Extension-Arm64", Content={"ZipFile": _zip()}
        )
        self.layer = str(layer["LayerVersionArn"])

    def client(self, service: str) -> Any:
        return self._session.create_client(service, region_name=REGION)

    def create(self, **parameters: str) -> dict[str, str]:
        """A stack; the names of what it made."""
        given = {"Secret": SECRET, "SecretsExtension": self.layer, **parameters}
        template = translated(TEMPLATE, given)
        names = self._others(template, given, {}, only=NAMED_BY_OTHERS)
        names |= self._stack(template, given, names)
        return names | self._others(template, given, names, only=set(CREATED_BY) - NAMED_BY_OTHERS)

    def _others(
        self, template: dict[str, Any], given: Mapping[str, str], names: Mapping[str, str], *, only: Collection[str]
    ) -> dict[str, str]:
        created = dict(names)
        for name, resource in template["Resources"].items():
            if resource["Type"] in only and name in (made := resources(template, given, created)):
                call = CREATED_BY[resource["Type"]]
                answer = self._call(call, name, made[name].get("Properties", {}))
                created[name] = answer[call.answers_name].rpartition("/")[2] if call.answers_name else name
        return created

    def _stack(self, template: dict[str, Any], given: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str]:
        formation = self.client("cloudformation")
        known = {name: one for name, one in template["Resources"].items() if one["Type"] not in CREATED_BY}
        parameters = {**template["Parameters"], **{name: {"Type": "String"} for name in names}}
        formation.create_stack(
            StackName="crontick",
            TemplateBody=json.dumps({**template, "Parameters": parameters, "Resources": known, "Outputs": {}}),
            Parameters=[{"ParameterKey": key, "ParameterValue": value} for key, value in {**given, **names}.items()],
            Capabilities=["CAPABILITY_IAM"],
        )
        found = formation.describe_stack_resources(StackName="crontick")["StackResources"]
        return {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in found if "PhysicalResourceId" in one}

    def _call(self, call: Call, name: str, properties: Mapping[str, Any]) -> Any:
        client = self.client(call.service)
        operation = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[call.name])
        asked = {BY_ANOTHER_NAME.get(key, key): value for key, value in properties.items()}
        if call.takes_name:
            asked[call.takes_name] = name
        return getattr(client, call.name)(**_typed(operation.input_shape, asked))


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        yield Account()


def test_the_default_stack_is_a_function_that_the_scheduler_calls(account: Account) -> None:
    names = account.create()
    functions, schedules = account.client("lambda"), account.client("scheduler")
    function = functions.get_function(FunctionName=names["Function"])
    told = function["Configuration"]
    queue = account.client("sqs").get_queue_attributes(QueueUrl=names["Undelivered"], AttributeNames=["QueueArn"])
    target = schedules.get_schedule(Name="Schedule")["Target"]
    assert (target["Arn"], target["DeadLetterConfig"]["Arn"]) == (told["FunctionArn"], queue["Attributes"]["QueueArn"])
    assert target["RoleArn"] == account.client("iam").get_role(RoleName=names["SchedulerRole"])["Role"]["Arn"]
    assert target["RetryPolicy"] == {"MaximumRetryAttempts": 3, "MaximumEventAgeInSeconds": 900}
    again = functions.get_function_event_invoke_config(FunctionName=names["Function"])
    assert (again["MaximumRetryAttempts"], again["MaximumEventAgeInSeconds"]) == (2, 900)
    assert (told["Timeout"], told["Environment"]["Variables"]["CRONTICK_BUDGET_SECONDS"]) == (30, "25")
    assert "ReservedConcurrentExecutions" not in functions.get_function_concurrency(FunctionName=names["Function"])
    assert "Concurrency" not in function
    for asked in (functions.get_function_url_config, functions.get_policy):
        with pytest.raises(ClientError, match="ResourceNotFound"):
            asked(FunctionName=names["Function"])
    alarms = account.client("cloudwatch").describe_alarms()["MetricAlarms"]
    assert {alarm["AlarmName"] for alarm in alarms if alarm["TreatMissingData"] == "breaching"} == {"MissingTicks"}


def test_a_function_url_is_created_with_both_permissions(account: Account) -> None:
    names = account.create(Http="function-url", Network="vpc-with-nat", **account.vpc)
    functions = account.client("lambda")
    assert functions.get_function_url_config(FunctionName=names["Function"])["AuthType"] == "NONE"
    policy = json.loads(functions.get_policy(FunctionName=names["Function"])["Policy"])
    assert {statement["Action"] for statement in policy["Statement"]} == {
        "lambda:InvokeFunctionUrl",
        "lambda:InvokeFunction",
    }
    told = functions.get_function(FunctionName=names["Function"])["Configuration"]
    assert sorted(told["VpcConfig"]["SubnetIds"]) == sorted(account.vpc["SubnetIds"].split(","))


@pytest.mark.anyio
async def test_everything_at_once_is_created_and_a_tick_can_set_its_alarm(
    account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    parameters = {"Network": "vpc-without-nat", "Http": "http-api", "FanOut": "yes", "Wake": "yes"}
    names = account.create(EveryMinutes="1", TimeoutSeconds="900", **parameters, **account.vpc)
    endpoints = account.client("ec2").describe_vpc_endpoints()["VpcEndpoints"]
    assert {one["ServiceName"].rpartition(".")[2] for one in endpoints} == {"secretsmanager", "lambda", "scheduler"}
    [route] = account.client("apigatewayv2").get_routes(ApiId=names["Api"])["Items"]
    assert route["Target"] == f"integrations/{names['ApiIntegration']}"
    policies = account.client("iam").list_role_policies(RoleName=names["Role"])["PolicyNames"]
    assert {"fan-out", "wake"} < set(policies)
    function = account.client("lambda").get_function(FunctionName=names["Function"])["Configuration"]
    for name, value in {**function["Environment"]["Variables"], "AWS_REGION": REGION}.items():
        monkeypatch.setenv(name, value)
    [wake] = re.findall(r"```toml\n(\[wake\].+?)```", README.read_text(), re.DOTALL)
    config = read_config(wake).wake
    assert config is not None
    alarm = Alarm(datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(hours=1))
    await arm(config, alarm, TickSecrets(Redactor(())), seconds=30)
    name = alarm.name(function["FunctionArn"], config.input)
    set_one = account.client("scheduler").get_schedule(Name=name, GroupName="crontick")
    assert set_one["Target"]["Arn"] == function["FunctionArn"]
    assert (
        set_one["Target"]["RoleArn"] == account.client("iam").get_role(RoleName=names["SchedulerRole"])["Role"]["Arn"]
    )


def _typed(shape: Any, value: Any) -> Any:
    """As CloudFormation turns the text of a parameter into the number that the service wants."""
    if shape.type_name == "structure":
        assert set(value) <= set(shape.members), f"{set(value) - set(shape.members)} are not of {shape.name}"
        return {name: _typed(shape.members[name], part) for name, part in value.items()}
    if shape.type_name == "list":
        return [_typed(shape.member, part) for part in value]
    return {"integer": int, "double": float}.get(shape.type_name, lambda same: same)(value)


def _zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as opened:
        opened.writestr("function.py", "")
    return made.getvalue()
