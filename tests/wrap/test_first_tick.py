"""Nothing is made before one of our paths is called, and then once; wrong settings are told and tried again."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from crontick.handler import wrap
from tests.door.serving import ADMIN, TOKEN
from tests.wrap import counted

AUTHORIZED = {"authorization": f"Bearer {TOKEN}"}


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"hello from {request.url.path}")


def client(app: object) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=app)  # type: ignore[arg-type]
    return httpx.AsyncClient(transport=transport, base_url="http://app", headers=AUTHORIZED)


def app() -> Starlette:
    return wrap(Starlette(routes=[Route("/{path:path}", hello)]))


@pytest.mark.anyio
async def test_both_paths_tick_and_all_else_is_the_apps(settings: pytest.MonkeyPatch) -> None:
    async with client(app()) as http:
        for path in ("/cron/tick", "/api/cron/tick"):
            assert (await http.post(path)).json()["ran"] is True
        for path in ("/", "/cron", "/cron/ticks", "/healthz", "/readyz", "/crontickle"):
            assert (await http.get(path)).text == f"hello from {path}", path


@pytest.mark.anyio
async def test_what_is_under_the_prefix_is_ours(settings: pytest.MonkeyPatch) -> None:
    async with client(app()) as http:
        assert (await http.get("/crontick/healthz")).json() == {"status": "ok"}
        assert (await http.get("/crontick/readyz")).json() == {"status": "ready"}
        for path in ("/crontick", "/crontick/", "/crontick/nothing"):
            assert (await http.get(path)).json()["title"] == "There is nothing at this path"
        settings.setenv("CRONTICK_PREFIX", "/jobs")
        assert (await http.get("/crontick/healthz")).text == "hello from /crontick/healthz"


@pytest.mark.anyio
@pytest.mark.parametrize("prefix", ["/", "jobs", "/jobs/"])
async def test_a_prefix_that_settings_refuse_takes_nothing_from_the_app(
    settings: pytest.MonkeyPatch, prefix: str
) -> None:
    settings.setenv("CRONTICK_PREFIX", prefix)
    async with client(app()) as http:
        for path in ("/", "/jobs/healthz", "/crontick/healthz"):
            assert (await http.get(path)).text == f"hello from {path}"
        assert (await http.post("/cron/tick")).status_code == 503


@pytest.mark.anyio
async def test_a_door_without_a_secret_does_not_exist(
    settings: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.delenv("CRON_SECRET")
    settings.delenv("CRONTICK_DATABASE_URL")
    async with client(app()) as http:
        for _ in range(2):
            answer = await http.post("/cron/tick")
            assert (answer.status_code, "CRON_SECRET is not set" in answer.json()["detail"]) == (404, True)
        assert (await http.get("/")).text == "hello from /"
    assert caplog.text.count("CRON_SECRET is not set") == 1


@pytest.mark.anyio
async def test_a_path_with_a_slash_too_many_is_told_of(settings: pytest.MonkeyPatch) -> None:
    async with client(app()) as http:
        answer = await http.post("/cron/tick/")
        assert (answer.status_code, "no path here ends in a slash" in answer.json()["detail"]) == (404, True)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("name", "wrong", "said"),
    [
        ("CRON_SECRET", "short", "CRON_SECRET is shorter than 16 characters"),
        ("CRONTICK_DATABASE_URL", "mysql://app:hunter2@db/app", "must begin with postgresql://"),
        ("CRONTICK_DATABASE_URL", "", "CRONTICK_DATABASE_URL is not set, nor DATABASE_URL"),
        ("CRONTICK_MODULES", "tests.nowhere", "tests.nowhere"),
        ("CRONTICK_MODULES", "tests.wrap.broken", "this module is broken"),
        ("CRONTICK_CONFIG", "/nowhere.toml", "there is no file /nowhere.toml"),
    ],
)
async def test_wrong_settings_are_told_in_the_log_and_tried_again(
    settings: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str, wrong: str, said: str
) -> None:
    async with client(app()) as http:
        with settings.context() as bad:
            bad.setenv(name, wrong)
            answer = await http.post("/cron/tick")
            assert answer.status_code == 503
            assert answer.headers["content-type"] == "application/problem+json"
            assert answer.headers["retry-after"] == "60"
            assert "this deployment's settings are wrong: `crontick check` says how" in answer.json()["detail"]
            assert said not in answer.text
            assert said in caplog.text
            assert "hunter2" not in caplog.text
            assert (await http.get("/")).text == "hello from /"
        if name == "CRONTICK_MODULES":
            return  # of settings that were right the kinds alone are wrong: that process keeps its settings
        assert (await http.post("/cron/tick")).json()["ran"] is True


@pytest.mark.anyio
async def test_modules_are_not_imported_for_a_caller_who_may_not_tick(
    settings: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.setenv("CRONTICK_MODULES", "tests.wrap.broken")
    async with client(app()) as http:
        assert (await http.post("/cron/tick", headers={"authorization": f"Bearer {ADMIN}"})).status_code == 401
        assert (await http.get("/crontick/readyz", headers={"authorization": "Bearer wrong"})).status_code == 401
    assert caplog.text == ""


def test_first_calls_at_once_make_it_once(settings: pytest.MonkeyPatch) -> None:
    """On the loops of four threads, which have all come before it is made; on one loop nothing comes between."""
    settings.setenv("CRONTICK_AROUND", "tests.wrap.counted:around")
    wrapped = app()

    async def call(_: int) -> int:
        async with client(wrapped) as http:
            return (await http.post("/cron/tick")).status_code

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda nth: asyncio.run(call(nth)), range(4))) == [200] * 4
    assert counted.MADE == ["around"]


@pytest.mark.anyio
async def test_the_tick_runs_the_apps_kinds(
    settings: pytest.MonkeyPatch, sync_conn: psycopg.Connection[object]
) -> None:
    sync_conn.execute("select crontick.enqueue('greet'), crontick.enqueue('break_at_once')")
    async with client(app()) as http:
        summary = (await http.post("/cron/tick")).json()
    assert (summary["claimed"], summary["succeeded"], summary["dead"]) == (2, 1, 1)
