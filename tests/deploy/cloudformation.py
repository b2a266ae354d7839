"""A SAM template as CloudFormation would see it: transformed by AWS's own translator, its functions resolved."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import cfnlint.decode
from boto3 import Session
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

ACCOUNT, REGION = "123456789012", "us-east-1"
PSEUDO = {
    "AWS::AccountId": ACCOUNT,
    "AWS::Partition": "aws",
    "AWS::Region": REGION,
    "AWS::StackName": "crontick",
    "AWS::URLSuffix": "amazonaws.com",
}
ARNS = {
    "AWS::IAM::Role": "arn:aws:iam::{account}:role/{name}",
    "AWS::Lambda::Function": "arn:aws:lambda:{region}:{account}:function:{name}",
    "AWS::Logs::LogGroup": "arn:aws:logs:{region}:{account}:log-group:{name}:*",
    "AWS::SQS::Queue": "arn:aws:sqs:{region}:{account}:{name}",
}
NAMED_BY = {"AWS::Lambda::Function": "FunctionName", "AWS::Scheduler::ScheduleGroup": "Name"}
PLAIN: dict[str, Callable[[list[Any]], Any]] = {
    "Fn::And": all,
    "Fn::Equals": lambda given: given[0] == given[1],
    "Fn::Not": lambda given: not given[0],
    "Fn::Or": any,
    "Fn::Select": lambda given: given[1][int(given[0])],
}
LISTS = ("CommaDelimitedList",)
GONE = object()
"""What a property is that AWS::NoValue stands for."""


def translated(template: Path, parameters: Mapping[str, str]) -> dict[str, Any]:
    """The template without its transform. Code is said to be in a bucket already, as `sam deploy` puts it there."""
    read, problems = cfnlint.decode.decode(str(template))
    assert not problems, problems
    plain = json.loads(json.dumps(read))
    plain["Resources"]["Function"]["Properties"]["CodeUri"] = "s3://code/function.zip"
    translator = Translator({}, Parser(), boto_session=Session(region_name=REGION))
    result: dict[str, Any] = translator.translate(plain, parameter_values=dict(parameters))
    return result


def resources(
    template: Mapping[str, Any], parameters: Mapping[str, str], names: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    """The resources that these parameters make, by name, with every function of CloudFormation resolved.

    ``names`` are those that resources got when they were made; others are made up.
    """
    return Resolving(template, parameters, names or {}).resources()


class Resolving:
    """One stack."""

    def __init__(self, template: Mapping[str, Any], parameters: Mapping[str, str], names: Mapping[str, str]) -> None:
        self._template, self._names = template, names
        self._values = {**PSEUDO, **{name: self._value(name, parameters) for name in template["Parameters"]}}

    def resources(self) -> dict[str, dict[str, Any]]:
        made = {
            name: {key: value for key, value in resource.items() if key != "Condition"}
            for name, resource in self._template["Resources"].items()
            if "Condition" not in resource or self.holds(resource["Condition"])
        }
        return {name: self.resolved(resource) for name, resource in made.items()}

    def holds(self, condition: str) -> bool:
        return bool(self.resolved(self._template["Conditions"][condition]))

    def resolved(self, given: Any) -> Any:
        if isinstance(given, list):
            return [each for each in map(self.resolved, given) if each is not GONE]
        if not isinstance(given, dict):
            return given
        if len(given) == 1:
            [(name, argument)] = given.items()
            if name == "Ref" or name.startswith("Fn::") or (name == "Condition" and isinstance(argument, str)):
                return self._called(name, argument)
        pairs = {name: self.resolved(value) for name, value in given.items()}
        return {name: value for name, value in pairs.items() if value is not GONE}

    def _called(self, name: str, argument: Any) -> Any:
        match name:
            case "Ref":
                return self._ref(argument)
            case "Condition":
                return self.holds(argument)
            case "Fn::If":
                condition, yes, no = argument
                return self.resolved(yes if self.holds(condition) else no)
            case "Fn::GetAtt":
                return self._attribute(*(argument if isinstance(argument, list) else argument.split(".", 1)))
            case "Fn::Sub":
                return re.sub(r"\$\{([^}]+)\}", lambda found: str(self._ref(found[1])), argument)
            case "Fn::FindInMap":
                table, row, column = self.resolved(argument)
                return self._template["Mappings"][table][row][column]
        assert name in PLAIN, f"the template uses {name}, which these tests do not know"
        return PLAIN[name](self.resolved(argument))

    def _ref(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return GONE
        if "." in name:
            return self._attribute(*name.split(".", 1))
        if name in self._values:
            return self._values[name]
        resource = self._template["Resources"][name]
        given = resource.get("Properties", {}).get(NAMED_BY.get(resource["Type"], ""))
        return self._names.get(name) or (self.resolved(given) if given else f"crontick-{name}")

    def _attribute(self, resource: str, attribute: str) -> str:
        if attribute == "Arn":
            arn = ARNS[self._template["Resources"][resource]["Type"]]
            return arn.format(account=ACCOUNT, region=REGION, name=self._ref(resource).rpartition("/")[2])
        return f"crontick-{resource}.{attribute}"

    def _value(self, name: str, given: Mapping[str, str]) -> Any:
        parameter = self._template["Parameters"][name]
        value = str(given.get(name, parameter.get("Default", GONE)))
        assert value != str(GONE), f"{name} has no default, and none was given"
        if allowed := parameter.get("AllowedValues"):
            assert value in allowed, (name, value)
        if pattern := parameter.get("AllowedPattern"):
            assert re.fullmatch(pattern, value), (name, value)
        if parameter["Type"] in LISTS:
            return [part for part in value.split(",") if part]
        return value
