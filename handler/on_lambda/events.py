"""What an invocation of Lambda asks for, told by a table of shapes (P41)."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta, field

from crontick.jobs.request import OutOfRange, TickRequest, checked

__all__ = ["Batch", "Direct", "Http", "Migrate", "UnknownEvent", "recognised"]


class UnknownEvent(ValueError):
    """No invocation that crontick knows has this shape; the text lists those that it does."""


class Http(msgspec.Struct, frozen=True):
    """A request for the HTTP door, and the stage that its path begins with where it has a name."""

    stage: str | None = None


class Direct(msgspec.Struct, frozen=True):
    """A tick. IAM has let its caller in."""

    request: TickRequest
    trigger: str


class Batch(msgspec.Struct, frozen=True):
    """A tick that SQS asked for with any number of records, and that answers for all of them."""

    request: TickRequest


class Migrate(msgspec.Struct, frozen=True):
    """Bring the database up to this code."""


Asked: TypeAlias = Http | Direct | Batch | Migrate
Event: TypeAlias = Mapping[str, Any]


class _Shape(NamedTuple):
    name: str
    type: type[msgspec.Struct]
    read: Callable[[Any, Event], Asked]


class _Request(msgspec.Struct, rename="camel"):
    method: str
    path: str
    source_ip: str


class _RequestContext(msgspec.Struct):
    http: _Request
    stage: str = "$default"


class _Http2(msgspec.Struct, rename="camel"):
    version: Literal["2.0"]
    request_context: _RequestContext
    headers: dict[str, str] = {}


class _Stage(msgspec.Struct):
    stage: str = "$default"


class _Http1(msgspec.Struct, rename="camel"):
    resource: str
    http_method: str
    path: str
    request_context: _Stage
    version: Literal["1.0"] = "1.0"
    headers: dict[str, str] | None = None
    multi_value_headers: dict[str, list[str]] | None = None


class _TargetGroup(msgspec.Struct):
    elb: dict[str, str]


class _LoadBalancer(msgspec.Struct, rename="camel"):
    request_context: _TargetGroup
    http_method: str
    path: str
    headers: dict[str, str] | None = None
    multi_value_headers: dict[str, list[str]] | None = None


class _EventBridge(msgspec.Struct):
    source: str
    time: Annotated[datetime, Meta(tz=True)]
    detail_type: str = field(name="detail-type")


class _GuideSample(msgspec.Struct):
    source: str
    time: Annotated[datetime, Meta(tz=True)]
    detail_type: str = field(name="detailType")


class _SchedulerInput(msgspec.Struct):
    action: Literal["tick"]


class _Record(msgspec.Struct, rename="camel"):
    event_source: Literal["aws:sqs"]
    attributes: dict[str, str] = {}


class _Records(msgspec.Struct, rename="pascal"):
    records: Annotated[list[_Record], Meta(min_length=1)]


class _Tick(msgspec.Struct):
    crontick: Literal["tick"]


class _Migrate(msgspec.Struct, forbid_unknown_fields=True):
    crontick: Literal["migrate"]


class _Empty(msgspec.Struct, forbid_unknown_fields=True):
    """No field at all."""


# What EventBridge Scheduler can fill into an Input of the user's own, by the names that its guide gives it.
_OF_THE_SCHEDULE: Final = frozenset(
    {"action", "scheduled_time", "schedule_arn", "execution_id", "attempt_number", "attempt"}
)


def recognised(event: object) -> Asked:
    """What it asks for. Raises ``UnknownEvent``, and never guesses."""
    if isinstance(event, dict):
        for shape in _SHAPES:
            try:
                fitting = msgspec.convert(event, shape.type)
            except msgspec.ValidationError:
                continue
            return shape.read(fitting, event)
    raise UnknownEvent(f"this event asks for nothing that crontick knows, and nothing ran. It knows {_NAMES}")


def _eventbridge(event: _EventBridge | _GuideSample, _: Event) -> Asked:
    trigger = "eventbridge-scheduler" if event.source == "aws.scheduler" else "eventbridge"
    return Direct(_asked({"scheduled_for": event.time}), trigger)


def _scheduler_input(_: _SchedulerInput, event: Event) -> Asked:
    fields = {name: value for name, value in event.items() if name not in _OF_THE_SCHEDULE}
    if "scheduled_time" in event:
        fields["scheduled_for"] = event["scheduled_time"]
    request = _asked(fields)
    return Direct(request, request.trigger or "eventbridge-scheduler")


def _sqs(event: _Records, _: Event) -> Asked:
    told = [each.attributes.get("SentTimestamp", "") for each in event.records]
    sent = [int(text) for text in told if _MILLISECONDS.fullmatch(text)]
    return Batch(_asked({"scheduled_for": datetime.fromtimestamp(min(sent) / 1000, UTC)} if sent else {}))


def _tick(_: _Tick, event: Event) -> Asked:
    request = _asked({name: value for name, value in event.items() if name != "crontick"})
    return Direct(request, request.trigger or "lambda")


_MILLISECONDS: Final = re.compile("[0-9]{1,14}")
"""Of this epoch, to the year 5138; what is longer is no time, and counts as not told."""


def _asked(fields: dict[str, Any]) -> TickRequest:
    try:
        return checked(fields)
    except OutOfRange as error:
        raise UnknownEvent(f"this event asks for a tick, and {error}; nothing ran") from None


def _named(stage: str) -> Http:
    return Http(None if stage == "$default" else stage)


_SHAPES: Final = (
    _Shape("HTTP of a Function URL or API Gateway, payload 2.0", _Http2, lambda e, _: _named(e.request_context.stage)),
    _Shape("HTTP of API Gateway, payload 1.0", _Http1, lambda e, _: _named(e.request_context.stage)),
    _Shape("HTTP of an Application Load Balancer", _LoadBalancer, lambda _, __: Http()),
    _Shape("an event of EventBridge or EventBridge Scheduler", _EventBridge, _eventbridge),
    _Shape("the sample of AWS's guide, with detailType", _GuideSample, _eventbridge),
    _Shape('EventBridge Scheduler\'s Input {"action": "tick", "scheduled_time": …}', _SchedulerInput, _scheduler_input),
    _Shape("records of SQS", _Records, _sqs),
    _Shape('{"crontick": "tick", …} with the fields of POST /cron/tick', _Tick, _tick),
    _Shape('{"crontick": "migrate"}', _Migrate, lambda _, __: Migrate()),
    _Shape("{}", _Empty, lambda _, __: Direct(TickRequest(), "lambda")),
)
_NAMES: Final = "; ".join(shape.name for shape in _SHAPES)
