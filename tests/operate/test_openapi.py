"""The OpenAPI document: it tells of every route, and of each the truth."""

import asyncio
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.routing import Route

from crontick.handler.operate.app import api as api_of
from crontick.handler.operate.openapi import document
from crontick.jobs.deployment import load_deployment
from crontick.jobs.settings import Settings
from tests.conftest import database_name, made_database
from tests.operate.conftest import ADMIN, CRON, ENQUEUE, KINDS, Api, app_of, settings_of

pytestmark = pytest.mark.anyio
TOKENS = {"admin": ADMIN, "cron": CRON, "enqueue": ENQUEUE}
NOWHERE = settings_of("postgresql://nobody@127.0.0.1:1/none")
PAGE = "/dashboard"
"""Pages for people's eyes."""


def paths(settings: Settings) -> set[str]:
    """Every path that a deployment with these settings routes."""
    router = inspect.getclosurevars(app_of(settings)).nonlocals["app"]
    inner: Any = api_of(settings, lambda: load_deployment(settings, kinds=KINDS))
    routed = [route.path for route in (*router.routes, *inner.routes) if isinstance(route, Route)]
    return {re.sub(r":\w+}", "}", path) for path in routed if not path.endswith("{rest:path}") and PAGE not in path}


@pytest.mark.parametrize(
    "settings_",
    [
        NOWHERE,
        settings_of("postgresql://nobody@127.0.0.1:1/none", prefix="/crontick"),
        settings_of("postgresql://nobody@127.0.0.1:1/none", admin_secrets=()),
        settings_of("postgresql://nobody@127.0.0.1:1/none", enqueue_secrets=(), signing_secrets=("whsec_MDEyMw==",)),
    ],
    ids=["all", "prefix", "no admin", "no enqueueing"],
)
def test_every_route_that_exists_is_described_and_no_other(settings_: Settings) -> None:
    assert paths(settings_) == document(settings_)["paths"].keys()


async def test_every_described_method_is_there_for_whoever_has_its_token() -> None:
    api = Api(app_of(NOWHERE))
    for path, methods in document(NOWHERE)["paths"].items():
        for method in methods:
            answer = await api.ask(method.upper(), path.replace("{id}", "7").replace("{run}", "7"), token=None)
            assert (path, answer.status_code in (200, 401)) == (path, True)


async def test_the_document_needs_no_secret_and_tells_none() -> None:
    api = Api(app_of(NOWHERE))
    answer = await api.ask("GET", "/openapi.json", token=None)
    assert answer.json()["openapi"] == "3.1.0"
    assert not [secret for secret in (ADMIN, CRON, ENQUEUE, "postgresql") if secret in answer.text]
    assert (await api.ask("POST", "/openapi.json", token=None)).status_code == 405


def of_few_jobs(schema: Any) -> Any:
    """The document, with ids so small that there are jobs of them."""
    text = json.dumps(schema).replace(str(2**63 - 1), str(len(JOBS)))
    return schemathesis.openapi.from_dict(json.loads(text))


JOBS = (
    *[("greet", "{}", "{}"), ("greet", '{"n": 1e400}', '{"run_at": "2030-01-01T00:00:00Z"}')],
    *[("break_at_once", '{"why": "it broke"}', "{}"), ("mail", '{"key": "receipt:42"}', "{}")],
    *[("greet", "{}", '{"group_key": "g"}'), ("nobody_knows_it", "{}", '{"group_key": "g", "unique_key": "u"}')],
)
SCHEMA = of_few_jobs(document(NOWHERE))
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations()]
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture(scope="module")
def worked(server: str, _template: str) -> Iterator[str]:
    """A database with jobs of every sort, some ran, some wait, for all operations: each adds to it."""
    with made_database(server, template=database_name(_template)) as url:
        _work(url)
        yield url


def _work(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        insert = "select * from crontick.enqueue_many(%s)"
        given_ = [{"kind": kind, "payload": "?", **json.loads(more)} for kind, _, more in JOBS]
        texts = json.dumps(given_)
        for _, payload, _ in JOBS:
            texts = texts.replace('"?"', payload, 1)
        conn.execute(insert, (texts,))
    asyncio.run(Api(app_of(settings_of(database))).ask("POST", "/cron/tick", CRON))


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=lambda mode: mode.value)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_every_answer_is_one_that_the_document_tells_of(operation: Any, mode: GenerationMode, worked: str) -> None:
    """Whatever fits the document, and much that does not: no fault, and nothing undocumented."""
    if mode is GenerationMode.NEGATIVE and not (operation.query or operation.path_parameters or operation.body):
        return  # of that there is nothing to be wrong
    app = app_of(settings_of(worked))
    secrets = [scheme for one in operation.definition.raw["security"] for scheme in one if scheme in TOKENS]
    token = TOKENS[secrets[0]] if secrets else None

    @settings(max_examples=12, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy(generation_mode=mode))
    def answers(case: Any) -> None:
        sent = requests.Request(**case.as_transport_kwargs(base_url="http://app.example")).prepare()
        # As bytes: httpx, which refuses a text outside ASCII, would keep it from the door.
        headers = [
            (name, value if isinstance(value, bytes) else value.encode()) for name, value in sent.headers.items()
        ]
        more = {"headers": headers, "content": sent.body}
        answer = runner.run(Api(app).ask(sent.method or "", sent.url or "", token, **more))
        assert answer.status_code != 503, answer.text
        case.validate_response(answer, checks=CHECKS)

    with asyncio.Runner() as runner:
        answers()
