"""Traces, as a collector reads them: from the enqueue over the run to the child, without any secret in them."""

import asyncio
import json
import threading
from contextlib import suppress
from typing import Any

import psycopg
import pytest
from opentelemetry import trace
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Tracer

from crontick.jobs import Context, Permanent, kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import Unavailable
from tests.engine.conftest import World
from tests.otel.conftest import Told, faults, said
from tests.worlds.http_receiver import Answer, Request

pytestmark = pytest.mark.anyio
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@kind("from_sync")
def from_sync(payload: dict[str, Any]) -> None:
    """Have a span of its own, in a thread."""
    with trace.get_tracer("acme").start_as_current_span("inside a thread"):
        pass


@kind("from_async")
async def from_async(payload: dict[str, Any], ctx: Context) -> None:
    """Have a child, and no trace in what it is given."""
    assert "$trace" not in payload
    ctx.enqueue(child, {})


@kind("child")
async def child(payload: dict[str, Any]) -> None:
    """Succeed."""


@kind("from_sql")
async def from_sql(payload: dict[str, Any]) -> None:
    """Succeed."""


@kind("from_nowhere")
async def from_nowhere(payload: dict[str, Any]) -> None:
    """Succeed."""


@kind("tells_all", secret=["card"])
async def tells_all(payload: dict[str, Any]) -> None:
    """Put secrets wherever a span has room for them."""
    secrets = f"{payload['card']} hunter2-hunter2"
    with trace.get_tracer("acme").start_as_current_span(f"pay {secrets}", attributes={"all": [secrets]}) as span:
        span.add_event(secrets, {"number": 4111111111111111})
        raise Permanent(f"no: {secrets}")


def parent_of(span: Span) -> tuple[bytes, bytes]:
    return span.trace_id, span.parent_span_id


def itself(span: Span) -> tuple[bytes, bytes]:
    return span.trace_id, span.span_id


async def test_one_trace_goes_from_the_enqueue_over_the_run_to_the_child(
    world: World, told: Told, app: Tracer, sync_conn: psycopg.Connection[Any]
) -> None:
    world.settings = {"traces": "otlp"}
    with app.start_as_current_span("request") as span:
        from_sync.enqueue(sync_conn, {})
        await from_async.enqueue(world.conn, {"n": 1})
        request = span.get_span_context()
    job = await world.one(f"""select crontick.enqueue('from_sql', '{{"$trace": {{"traceparent": "{PARENT}"}}}}')""")
    await from_nowhere.enqueue(world.conn, {})
    summary = await world.tick(from_sync, from_async, from_sql, from_nowhere, child)
    assert (summary.succeeded, faults(summary)) == (5, [])

    spans = told.spans()
    tick = spans["tick"]
    assert (said(tick)["crontick.tick"], said(tick)["crontick.succeeded"]) == (summary.tick, 5)
    asked = (request.trace_id.to_bytes(16, "big"), request.span_id.to_bytes(8, "big"))
    for name in ("from_sync", "from_async"):
        attempt = spans[f"process {name}"]
        assert parent_of(attempt) == asked
        assert [itself(link) for link in attempt.links] == [itself(tick)]
    assert parent_of(spans["inside a thread"]) == itself(spans["process from_sync"])
    assert parent_of(spans["process child"]) == itself(spans["process from_async"])
    assert parent_of(spans["process from_nowhere"]) == itself(tick)
    attempt = spans["process from_sql"]
    assert parent_of(attempt) == (bytes.fromhex(PARENT[3:35]), bytes.fromhex(PARENT[36:52]))
    assert (attempt.kind, attempt.status.code) == (Span.SPAN_KIND_CONSUMER, Status.STATUS_CODE_UNSET)
    assert said(attempt) == {
        "messaging.system": "crontick",
        "messaging.operation.type": "process",
        "messaging.operation.name": "process",
        "messaging.destination.name": "default",
        "messaging.message.id": str(job),
        "crontick.job.kind": "from_sql",
        "crontick.job.first": job,
        "crontick.attempt": 1,
        "crontick.outcome": "succeeded",
    }


async def test_no_secret_leaves_in_a_span_not_even_in_one_of_the_functions_own(
    world: World, told: Told, app: Tracer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = "k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    monkeypatch.setenv("CRONTICK_ENCRYPTION_KEYS", keys)
    world.settings = {"traces": "otlp", "signing_secrets": ("hunter2-hunter2",), "encryption_keys": (keys,)}
    with app.start_as_current_span("request") as request:
        await tells_all.enqueue(world.conn, {"card": "4111111111111111"})
    in_clear = {"card": "4111111111111111", "$trace": {"traceparent": PARENT}}
    await world.one("select crontick.enqueue('tells_all', %s::jsonb)", json.dumps(in_clear))
    assert (await world.tick(tells_all)).dead == 2
    [export] = told.receiver.requests
    assert b"hunter2" not in export.body
    assert b"4111" not in export.body
    asked = {request.get_span_context().trace_id.to_bytes(16, "big"), bytes.fromhex(PARENT[3:35])}
    assert {span.trace_id for span in told.all() if span.name == "process tells_all"} == asked
    spans = told.spans()
    attempt = spans["process tells_all"]
    [event] = attempt.events
    assert attempt.status.code == Status.STATUS_CODE_ERROR
    assert said(event)["exception.message"] == "no: [redacted] [redacted]"
    assert (said(attempt)["crontick.outcome"], said(attempt)["error.type"]) == ("dead", "Permanent")
    [own] = [span for span in told.all() if span.name.startswith("pay") and parent_of(span) == itself(attempt)]
    assert own.events[0].attributes[0].value.string_value == "[redacted]"


@pytest.mark.parametrize("answer", [Answer(status=500), Answer(hang=True)], ids=["500", "hangs"])
async def test_a_collector_that_fails_harms_no_tick(world: World, told: Told, answer: Answer) -> None:
    told.receiver.otherwise = answer
    world.settings = {"traces": "otlp", "metrics": "otlp"}
    await child.enqueue(world.conn, {})
    summary = await world.tick(child)
    assert (summary.succeeded, len(faults(summary))) == (1, 2)
    assert all("127.0.0.1" in warning for warning in faults(summary))
    told.receiver.otherwise = Answer()
    assert faults(await world.tick(child)) == []
    assert len([r for r in told.receiver.requests if b"process child" in r.body]) == 1  # dropped, and not repeated


async def test_outcomes_are_written_before_anything_is_told(world: World, told: Told) -> None:
    seen: list[Any] = []

    async def look(_: Request) -> Answer:
        async with await psycopg.AsyncConnection.connect(world.url, autocommit=True) as conn:
            cursor = await conn.execute(
                "select (select status from crontick.jobs), ended_at is null from crontick.ticks"
            )
            seen.extend(await cursor.fetchall())
        return Answer()

    told.receiver.act = look
    world.settings = {"traces": "otlp"}
    await child.enqueue(world.conn, {})
    assert faults(await world.tick(child)) == []
    assert seen == [("succeeded", False)]  # whoever dies from here on loses spans


class Exporter(SpanExporter):
    """An app's own way out, that never ends while ``stuck``."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.stuck: Any = None

    def export(self, spans: Any) -> SpanExportResult:
        if self.stuck is not None:
            self.stuck.wait()
        self.names += [span.name for span in spans]
        return SpanExportResult.SUCCESS


async def test_an_app_that_has_a_provider_is_told_through_it_before_the_answer(world: World, told: Told) -> None:
    exporter, provider = Exporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter, schedule_delay_millis=3_600_000))
    trace.set_tracer_provider(provider)
    await child.enqueue(world.conn, {})
    assert faults(await world.tick(child)) == []
    assert sorted(exporter.names) == ["process child", "tick"]
    exporter.stuck = threading.Event()
    assert faults(await world.tick(child)) == ["the app's TracerProvider did not tell its spans in time"]
    exporter.stuck.set()
    provider.shutdown()
    assert told.receiver.requests == []


class Broken(SpanProcessor):
    """One that raises where it is told to."""

    where = ""

    def on_start(self, *_: Any, **__: Any) -> None:
        if self.where == "on_start":
            raise RuntimeError(self.where)

    def on_end(self, _: Any) -> None:
        if self.where == "on_end":
            raise RuntimeError(self.where)


async def test_an_app_whose_processor_raises_loses_its_spans_and_nothing_else(world: World) -> None:
    broken, provider = Broken(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(broken)
    trace.set_tracer_provider(provider)
    for broken.where, warned in (("on_start", ["the tick has no span: RuntimeError"]), ("on_end", [])):
        await child.enqueue(world.conn, {})
        summary = await world.tick(child)
        assert (summary.succeeded, faults(summary)) == (1, warned)


async def test_a_variable_that_the_sdk_refuses_is_named_and_stops_no_tick(
    world: World, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SPAN_EVENT_COUNT_LIMIT", "many")
    world.settings = {"traces": "otlp"}
    await child.enqueue(world.conn, {})
    summary = await world.tick(child)
    [warning] = faults(summary)
    assert (summary.succeeded, told.receiver.requests, "OTEL_SPAN_EVENT_COUNT_LIMIT" in warning) == (1, [], True)


async def test_a_requeued_copy_runs_in_the_trace_of_its_lineage(world: World, told: Told, app: Tracer) -> None:
    @kind("fails", max_attempts=2, backoff=[1])
    async def fails(payload: dict[str, Any]) -> None:
        raise LookupError("on and on")

    world.settings = {"traces": "otlp"}
    with app.start_as_current_span("request") as request:
        job = await fails.enqueue(world.conn, {})
    for attempt in (1, 2):
        await world.tick(fails)
        assert said(told.spans()["process fails"])["crontick.attempt"] == attempt
        assert "in fails" in said(told.spans()["process fails"].events[0])["exception.stacktrace"]
        await world.later(5)
    copy = await world.one("select crontick.requeue(%s, 'ada', 'mended')", job)
    await world.tick(fails)
    attempts = [span for span in told.all() if span.name == "process fails"]
    assert [said(span)["messaging.message.id"] for span in attempts] == [str(job), str(job), str(copy)]
    assert {said(span)["crontick.job.first"] for span in attempts} == {job}
    asked = request.get_span_context()
    assert {parent_of(span) for span in attempts} == {
        (asked.trace_id.to_bytes(16, "big"), asked.span_id.to_bytes(8, "big"))
    }


async def test_a_tick_that_cannot_run_is_told_too(world: World, told: Told) -> None:
    settings = Settings(database_url="postgresql://nobody@127.0.0.1:1/none", environment="test", traces="otlp")
    with pytest.raises(Unavailable):
        await run_tick(load_deployment(settings, kinds=[child]), TickRequest(budget_seconds=1))
    tick = told.spans()["tick"]
    assert (tick.status.code, said(tick)["error.type"]) == (Status.STATUS_CODE_ERROR, "Unavailable")
    assert "out of reach" in tick.status.message


async def test_what_runs_on_past_its_timeout_has_its_span_ended(world: World, told: Told) -> None:
    over, left = asyncio.Event(), asyncio.Event()

    @kind("swallows", timeout=0.1)
    async def swallows(payload: dict[str, Any]) -> None:
        while not over.is_set():
            with suppress(asyncio.CancelledError):
                await over.wait()
        left.set()

    world.settings = {"traces": "otlp"}
    await swallows.enqueue(world.conn, {})
    try:
        assert (await world.tick(swallows)).failed == 1
        assert said(told.spans()["process swallows"])["crontick.outcome"] == "failed"
    finally:
        over.set()
        await left.wait()


async def test_ticks_at_the_same_time_lose_no_span_of_each_other(world: World, told: Told) -> None:
    world.settings = {"traces": "otlp"}
    await child.enqueue_many(world.conn, [{}] * 40)
    summaries = await asyncio.gather(*(world.tick(child) for _ in range(3)))
    assert (sum(summary.succeeded for summary in summaries), [faults(each) for each in summaries]) == (40, [[]] * 3)
    names = [span.name for span in told.all()]
    assert (names.count("tick"), names.count("process child")) == (3, 40)
