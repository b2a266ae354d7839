"""A collector on loopback that reads what it is sent as OpenTelemetry's own messages, and ticks that tell it."""

import json
from typing import Any

import psycopg
import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.trace import Tracer
from opentelemetry.util._once import Once

from crontick.jobs.summary import Summary
from tests.engine.conftest import World
from tests.worlds.http_receiver import HttpReceiver


class Told:
    """What the collector was told so far."""

    def __init__(self, receiver: HttpReceiver) -> None:
        self.receiver = receiver

    def spans(self) -> dict[str, Span]:
        """By name; the last of several."""
        return {span.name: span for span in self.all()}

    def all(self) -> list[Span]:
        """In the order in which they were told."""
        exports = [ExportTraceServiceRequest.FromString(r.body) for r in self.receiver.requests if "traces" in r.target]
        scopes = [scope for export in exports for each in export.resource_spans for scope in each.scope_spans]
        return [span for scope in scopes for span in scope.spans]

    def metrics(self) -> dict[str, Any]:
        """The points of the last export, by name."""
        last = [json.loads(r.body) for r in self.receiver.requests if "metrics" in r.target][-1]
        [scope] = last["resourceMetrics"][0]["scopeMetrics"]
        return {
            metric["name"]: (metric.get("sum") or metric.get("gauge") or metric.get("histogram"))["dataPoints"]
            for metric in scope["metrics"]
        }


def faults(summary: Summary) -> list[str]:
    """Its warnings, but for the one that every test's database has."""
    return [warning for warning in summary.warnings if "test clock" not in warning]


def said(span: Span | Any) -> dict[str, Any]:
    """The attributes of a span or an event."""
    return {pair.key: _value(pair) for pair in span.attributes}


def _value(pair: KeyValue) -> Any:
    return getattr(pair.value, pair.value.WhichOneof("value") or "string_value")


@pytest.fixture
def told(http_receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch) -> Told:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"{http_receiver.url}/otlp")
    return Told(http_receiver)


@pytest.fixture
def app() -> Tracer:
    """The tracer of a program that enqueues."""
    return TracerProvider(shutdown_on_exit=False).get_tracer("app")


@pytest.fixture
def world(database: str, conn: psycopg.AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch) -> World:
    """In a process that has set no TracerProvider yet; what the test sets goes with it."""
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", None)
    monkeypatch.setattr(trace, "_TRACER_PROVIDER_SET_ONCE", Once())
    return World(database, conn)
