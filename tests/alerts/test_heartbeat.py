"""Whoever is pinged hears that a tick began and how it ended, and harms none."""

import asyncio
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs import kind
from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.heartbeat import ping_url
from crontick.jobs.kind import Kind
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import Unavailable
from tests.worlds.http_receiver import Answer, HttpReceiver
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import async_until

pytestmark = pytest.mark.anyio
NOWHERE = "postgresql://nobody@127.0.0.1:1/none?connect_timeout=1"


@pytest.fixture
def beating(http_receiver: HttpReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a deployment that pings the receiver."""
    monkeypatch.setenv("HEARTBEAT_URL", f"{http_receiver.url}/ping/uuid-of-a-check")
    config = tmp_path / "crontick.toml"
    config.write_text('[heartbeat]\nurl_env = "HEARTBEAT_URL"\ntimeout = "30s"\n')

    def made(url: str, *kinds: Kind[Any]) -> Deployment:
        settings = Settings(database_url=url, environment="test", config_path=config, keep_connection_seconds=0)
        return load_deployment(settings, kinds=kinds)

    return made


def paths(receiver: HttpReceiver) -> list[str]:
    return [request.target.partition("?")[0] for request in receiver.requests]


async def test_a_tick_pings_start_and_success_under_one_id_with_its_own(
    beating: Any, database: str, http_receiver: HttpReceiver
) -> None:
    summary = await run_tick(beating(database), TickRequest())
    assert paths(http_receiver) == ["/ping/uuid-of-a-check/start", "/ping/uuid-of-a-check"]
    assert len({request.target.partition("?")[2] for request in http_receiver.requests}) == 1
    assert http_receiver.requests[1].body.startswith(f"tick {summary.tick}: 0 claimed".encode())


async def test_no_database_pings_fail(beating: Any, http_receiver: HttpReceiver) -> None:
    with pytest.raises(Unavailable):
        await run_tick(beating(NOWHERE), TickRequest(budget_seconds=1))
    assert paths(http_receiver)[-1] == "/ping/uuid-of-a-check/fail"
    assert b"nothing ran and nothing was lost" in http_receiver.requests[-1].body


async def test_another_environments_database_pings_fail_and_is_left_as_it_was(
    beating: Any, database: str, sync_conn: psycopg.Connection[Any], http_receiver: HttpReceiver
) -> None:
    sync_conn.execute("update crontick.installation set environment = 'other'")
    with pytest.raises(Unavailable):
        await run_tick(beating(database), TickRequest())
    assert paths(http_receiver)[-1] == "/ping/uuid-of-a-check/fail"
    assert sync_conn.execute("select count(*) from crontick.ticks").fetchone() == (0,)


@pytest.mark.parametrize("answer", [Answer(status=500), Answer(close=True)], ids=["says 500", "hangs up"])
async def test_one_that_takes_no_ping_harms_no_tick_and_its_url_is_not_told(
    beating: Any, database: str, http_receiver: HttpReceiver, answer: Answer, caplog: pytest.LogCaptureFixture
) -> None:
    http_receiver.otherwise = answer
    assert (await run_tick(beating(database), TickRequest())).ran
    assert "the heartbeat was" in caplog.text
    assert "uuid-of-a-check" not in caplog.text


async def test_a_dry_run_pings_nobody(beating: Any, database: str, http_receiver: HttpReceiver) -> None:
    await run_tick(beating(database), TickRequest(dry_run=True))
    assert http_receiver.requests == []


async def test_a_url_that_is_not_set_is_told_and_harms_no_tick(
    beating: Any, database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    deployment = beating(database)
    monkeypatch.delenv("HEARTBEAT_URL")
    assert (await run_tick(deployment, TickRequest())).ran
    assert "HEARTBEAT_URL is not set" in caplog.text


@pytest.mark.parametrize(
    ("url", "path", "pinged"),
    [
        ("https://hc.example/a", "start", "https://hc.example/a/start?rid=r"),
        ("https://hc.example/a/", "", "https://hc.example/a?rid=r"),
        ("https://hc.example/a?token=b", "fail", "https://hc.example/a/fail?token=b&rid=r"),
    ],
)
def test_a_ping_goes_beside_what_the_url_has_already(url: str, path: str, pinged: str) -> None:
    assert ping_url(url, path, "r") == pinged


async def test_a_cancelled_tick_leaves_no_ping_and_no_client_behind(
    beating: Any, database: str, http_receiver: HttpReceiver, sync_conn: psycopg.Connection[Any]
) -> None:
    http_receiver.otherwise = Answer(hang=True)
    running = asyncio.Event()

    @kind("hang")
    async def hang(payload: dict[str, Any]) -> None:
        running.set()
        await asyncio.Event().wait()

    sync_conn.execute("select crontick.enqueue('hang')")
    before = asyncio.all_tasks()
    tick = asyncio.create_task(run_tick(beating(database, hang), TickRequest()))
    await async_until(lambda: http_receiver.requests and running.is_set())
    tick.cancel()
    with pytest.raises(asyncio.CancelledError):
        await tick
    assert asyncio.all_tasks() <= before
    assert paths(http_receiver) == ["/ping/uuid-of-a-check/start"]


async def test_a_tick_that_lost_its_database_pings_fail_with_its_id(
    beating: Any, proxy: Proxy, sync_conn: psycopg.Connection[Any], http_receiver: HttpReceiver
) -> None:
    @kind("cut")
    async def cut(payload: dict[str, Any]) -> None:
        proxy.black_hole = True

    sync_conn.execute("select crontick.enqueue('cut')")
    with pytest.raises(Unavailable):
        await run_tick(beating(proxy.url, cut), TickRequest(budget_seconds=2))
    [(tick,)] = sync_conn.execute("select id from crontick.ticks").fetchall()
    assert http_receiver.requests[-1].body.startswith(f"tick {tick}: ".encode())
