"""The trace beside a payload: who gives it, what is left alone, and where it goes on to."""

import json
from pathlib import Path

import pytest
from opentelemetry.trace import Tracer

from crontick.jobs.kinds.http_kind import http_kind
from crontick.jobs.testing import enqueued
from crontick.jobs.trace_context import TraceContext, carrying, read, without
from tests.engine.conftest import World
from tests.operate.conftest import ENQUEUE, Api, app_of, greet, settings_of
from tests.otel.conftest import Told
from tests.worlds.http_receiver import Answer, HttpReceiver

pytestmark = pytest.mark.anyio
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
CONTEXT = TraceContext(PARENT, "vendor=1")
CARRIED = f'"$trace":{{"traceparent":"{PARENT}","tracestate":"vendor=1"}}'


@pytest.mark.parametrize(
    ("payload", "stored"),
    [
        ("{}", f"{{{CARRIED}}}"),
        (' {"a": 1 } ', f'{{"a": 1,{CARRIED}}}'),
        ("[1]", "[1]"),
        ('{"$trace": "mine"}', '{"$trace": "mine"}'),
        (f'{{"a":"{"x" * 65_000}"}}', f'{{"a":"{"x" * 65_000}"}}'),
    ],
    ids=["empty", "spaced", "no object", "its own", "no room"],
)
def test_a_payload_takes_the_trace_along_where_it_can(payload: str, stored: str) -> None:
    assert carrying(payload, CONTEXT) == stored
    clear, context = without(stored)
    assert (json.loads(clear), context) == (json.loads(payload), CONTEXT if stored != payload else None)


@pytest.mark.parametrize(
    "traceparent",
    ["", "7", PARENT.upper(), f"ff{PARENT[2:]}", f"{PARENT}\n", PARENT.replace("b7ad6b7169203331", "0" * 16)],
)
def test_what_names_no_trace_is_dropped(traceparent: str) -> None:
    assert read(traceparent) is None
    assert without(json.dumps({"$trace": {"traceparent": traceparent}})) == ("{}", None)


def test_a_state_that_cannot_be_carried_goes_alone() -> None:
    assert read(PARENT, "x" * 513) == read(PARENT, "x\r\ny: z") == TraceContext(PARENT)


async def test_over_http_a_job_takes_the_callers_trace_along(world: World) -> None:
    api = Api(app_of(settings_of(world.url)))
    traced = [("traceparent", PARENT), ("tracestate", "vendor=1")]
    for n, headers in enumerate((traced, [("traceparent", "nonsense")], [*traced, ("traceparent", PARENT)])):
        body = {"kind": "greet", "payload": {"n": n}}
        assert (await api.ask("POST", "/api/jobs", ENQUEUE, json=body, headers=headers)).status_code == 201
    payloads = await world.rows("select payload from crontick.jobs order by id")
    trace = {"traceparent": PARENT, "tracestate": "vendor=1"}
    assert payloads == [({"n": 0, "$trace": trace},), ({"n": 1},), ({"n": 2},)]
    assert await enqueued(world.conn, greet) == [{"n": 0}, {"n": 1}, {"n": 2}]


async def test_a_kind_at_a_url_is_told_the_trace_in_its_header_and_nothing_of_it_in_its_payload(
    world: World, http_receiver: HttpReceiver, told: Told, monkeypatch: pytest.MonkeyPatch, app: Tracer
) -> None:
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
    resize = http_kind("resize", f"{http_receiver.url}/resize")
    http_receiver.otherwise = Answer(status=204, body=b"")
    with app.start_as_current_span("request"):
        await resize.enqueue(world.conn, {"id": 7})
    await world.tick(resize)
    [untraced] = http_receiver.requests
    assert json.loads(untraced.body)["payload"] == {"id": 7}
    carried = untraced.headers["traceparent"]
    await world.one("select crontick.enqueue('resize', '{\"id\": 8}')")
    world.settings = {"traces": "otlp"}
    await world.tick(resize)
    traced = http_receiver.requests[1].headers["traceparent"]
    attempt = told.spans()["process resize"]
    assert traced[:52] == f"00-{attempt.trace_id.hex()}-{attempt.span_id.hex()}"
    assert carried[3:35] != traced[3:35]
    assert not {"baggage", "tracestate"} & http_receiver.requests[1].headers.keys()


async def test_a_webhook_is_told_the_trace_too(world: World, http_receiver: HttpReceiver, tmp_path: Path) -> None:
    (tmp_path / "crontick.toml").write_text('[http]\nallow = ["127.0.0.1"]')
    world.settings = {"config_path": tmp_path / "crontick.toml"}
    payload = {"url": f"{http_receiver.url}/hook", "body": {"$trace": 7}, "$trace": {"traceparent": PARENT}}
    await world.one("select crontick.enqueue('deliver_webhook', %s::jsonb)", json.dumps(payload))
    assert (await world.tick()).succeeded == 1
    [request] = http_receiver.requests
    assert (request.headers["traceparent"], json.loads(request.body)) == (PARENT, {"$trace": 7})
