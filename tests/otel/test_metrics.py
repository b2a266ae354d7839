"""The figures of a tick as OTLP: what a collector reads of them, and where they are sent."""

import os
from typing import Any

import pytest
from google.protobuf.json_format import Parse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_DELTA

from crontick.handler.cli.check_collector import uncollected
from crontick.jobs import kind
from crontick.jobs.otel.collector import endpoint, resource
from crontick.jobs.otel.metrics import document
from crontick.jobs.settings import Settings
from crontick.jobs.summary import Summary
from tests.engine.conftest import World
from tests.otel.conftest import Told, faults

pytestmark = pytest.mark.anyio


@kind("count")
async def count(payload: dict[str, Any]) -> None:
    """Succeed."""


@kind("quote")
async def quote(payload: dict[str, Any]) -> None:
    """Say what only a header may hold."""
    raise LookupError(os.environ["OTEL_EXPORTER_OTLP_HEADERS"])


async def test_a_tick_posts_its_figures_once_at_its_end(
    world: World, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "X-Api-Key=a%20key-of-mine")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "team=web,service.name=other")
    monkeypatch.setenv("OTEL_SERVICE_NAME", "acme")
    world.settings = {"metrics": "otlp"}
    await count.enqueue_many(world.conn, [{}] * 3)
    quoting = await quote.enqueue(world.conn, {})
    assert faults(await world.tick(count, quote)) == []
    assert (await world.job(quoting))["last_error"] == "LookupError: [redacted]"
    [request] = told.receiver.requests
    assert (request.target, request.headers["x-api-key"]) == ("/otlp/v1/metrics", "a key-of-mine")
    read = Parse(request.body, ExportMetricsServiceRequest())
    [scope] = read.resource_metrics[0].scope_metrics
    metrics = {metric.name: metric for metric in scope.metrics}
    who = {pair.key: pair.value.string_value for pair in read.resource_metrics[0].resource.attributes}
    assert (who["service.name"], who["team"], who["deployment.environment.name"]) == ("acme", "web", "test")
    assert metrics["crontick.jobs.succeeded"].sum.data_points[0].as_int == 3
    assert metrics["crontick.jobs.succeeded"].sum.aggregation_temporality == AGGREGATION_TEMPORALITY_DELTA
    took, _ = metrics["crontick.attempt.duration"].histogram.data_points
    assert (took.count, sum(took.bucket_counts)) == (3, 3)
    assert len(took.bucket_counts) == len(took.explicit_bounds) + 1
    assert took.attributes[0].value.string_value == "count"


def test_a_tick_that_ran_nothing_says_only_that() -> None:
    told = document(Summary("curl", not_run="busy"), {}, 1)
    [metric] = told["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
    [point] = metric["sum"]["dataPoints"]
    assert (metric["name"], point["attributes"][0]["value"]) == ("crontick.ticks", {"stringValue": "busy"})


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({}, "http://localhost:4318/v1/metrics"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c.example/"}, "https://c.example/v1/metrics"),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "https://c.example/m"}, "https://c.example/m"),
    ],
)
def test_the_collector_is_where_opentelemetrys_variables_say(environ: dict[str, str], url: str) -> None:
    assert endpoint(environ, "metrics") == url
    assert resource(environ, "staging")["service.name"] == "crontick"


async def test_a_header_that_cannot_be_sent_is_named_and_its_value_is_not(
    world: World, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "key=hush-hush%0d%0aevil: 1")
    world.settings = {"metrics": "otlp"}
    [warning] = faults(await world.tick(count))
    assert ("OTEL_EXPORTER_OTLP_HEADERS" in warning, "hush" in warning, told.receiver.requests) == (True, False, [])


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("ENDPOINT", "http://198.41.0.4:4318", "OTEL_EXPORTER_OTLP_ENDPOINT, for traces: url goes to a public address"),
        ("ENDPOINT", "collector:4318", "url must be a whole one"),
        ("TRACES_HEADERS", "key=%00", "OTEL_EXPORTER_OTLP_TRACES_HEADERS holds what no header can carry"),
        ("TRACES_HEADERS_FROM", "file:/none", "OTEL_EXPORTER_OTLP_TRACES_HEADERS_FROM: /none cannot be read"),
    ],
)
def test_crontick_check_says_why_nothing_would_arrive(variable: str, value: str, said: str) -> None:
    [finding] = uncollected(Settings(traces="otlp"), {f"OTEL_EXPORTER_OTLP_{variable}": value})
    assert (finding.wrong, said in finding.sentence) == (True, True)
    assert list(uncollected(Settings(), {f"OTEL_EXPORTER_OTLP_{variable}": value})) == []
