"""``GET /metrics``: what Prometheus' own parser reads, true, and with labels that nobody can multiply."""

import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from crontick.handler.operate.prometheus import Gauge, text
from tests.operate.conftest import CRON, KINDS, Api, Operated, app_of, settings_of

pytestmark = pytest.mark.anyio
DOCUMENT = Path(__file__).parents[2] / "docs" / "observability.md"
Samples = dict[str, dict[tuple[tuple[str, str], ...], float]]


async def read(operated: Operated) -> Samples:
    """The samples by metric and labels."""
    answer = await Api(app_of(settings_of(operated.url))).ask("GET", "/metrics")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    told: Samples = {}
    for family in text_string_to_metric_families(answer.text):
        assert (family.type, bool(family.documentation)) == ("gauge", True)
        told[family.name] = {tuple(sorted(one.labels.items())): one.value for one in family.samples}
    return told


async def test_they_say_what_waits_and_what_the_last_ticks_did(operated: Operated) -> None:
    await operated.enqueue("greet")
    await operated.enqueue("greet", run_at="2031-01-01T00:00Z")
    await operated.dead("the disk is full", "no such user")
    told = await read(operated)
    queued = (("kind", "greet"), ("queue", "default"), ("status", "queued"))
    dead = (("kind", "break_at_once"), ("queue", "default"), ("status", "dead"))
    assert told["crontick_jobs"] == {queued: 1, dead: 2}
    assert told["crontick_recent_ticks"] == {(("ended", "empty"),): 1}
    assert told["crontick_recent_claimed_jobs"] == {(): 3}
    outcomes = {labels[0][1]: value for labels, value in told["crontick_recent_attempts"].items() if value}
    assert outcomes == {"succeeded": 1, "dead": 2}
    assert told["crontick_recent_kind_failures"] == {(("kind", "break_at_once"),): 2, (("kind", "greet"),): 0}
    assert told["crontick_last_tick_timestamp_seconds"].keys() == {()}


async def test_what_is_due_is_told_by_queue_and_for_how_long(operated: Operated) -> None:
    await operated.enqueue("greet")
    await operated.later(90)
    told = await read(operated)
    assert told["crontick_oldest_due_seconds"][(("queue", "default"),)] == pytest.approx(90, abs=60)
    assert told["crontick_recent_ticks"] == {}


async def test_a_thousand_names_that_nobody_declared_are_one_label(operated: Operated) -> None:
    await operated.conn.execute(
        "select crontick.enqueue('made_up_' || n, '{}', queue => 'q' || n) from generate_series(1, 1000) as n"
    )
    told = await read(operated)
    other = (("kind", "other"), ("queue", "other"), ("status", "queued"))
    assert told["crontick_jobs"] == {other: 1000}


async def test_kinds_of_an_older_deployment_have_no_series(operated: Operated) -> None:
    await operated.enqueue("greet")
    await operated.tick(*KINDS)
    await operated.conn.execute("""update crontick.ticks set kinds = jsonb_build_object('gone', kinds -> 'greet')""")
    assert (await read(operated))["crontick_recent_kind_attempts"] == {}


@pytest.mark.parametrize("token", [None, CRON])
async def test_only_the_admins_token_opens_them(database: str, token: str | None) -> None:
    answer = await Api(app_of(settings_of(database))).ask("GET", "/metrics", token)
    assert answer.status_code == 401


@pytest.mark.parametrize(("method", "secrets", "status"), [("POST", {}, 405), ("GET", {"admin_secrets": ()}, 404)])
async def test_they_are_read_and_without_a_secret_not_there(
    database: str, method: str, secrets: dict[str, tuple[str, ...]], status: int
) -> None:
    answer = await Api(app_of(settings_of(database, **secrets))).ask(method, "/metrics")
    assert answer.status_code == status


async def test_the_documents_table_has_every_metric_and_no_other(operated: Operated) -> None:
    documented = re.findall(r"^\| `(crontick_\w+)", DOCUMENT.read_text(), re.MULTILINE)
    assert sorted(documented) == sorted(await read(operated))


def test_a_label_keeps_quotes_and_line_ends() -> None:
    awkward = 'a"b\\c\nd'
    [family] = text_string_to_metric_families(text([Gauge("g", "x\ny\\z", [({"label": awkward}, 1.5)])]))
    assert family.samples[0].labels == {"label": awkward}
