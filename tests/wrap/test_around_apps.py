"""An app answers as it does without crontick, and its middleware sees no tick."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from tests.door.serving import TOKEN
from tests.worlds.process import Processes
from tests.worlds.process import processes as made_processes
from tests.worlds.waiting import until
from tests.wrap.serving import Address, call, environ, tick, uvicorn

APPS = ("app_starlette", "app_fastapi", "app_litestar", "app_django")
REQUESTS: tuple[tuple[str, str, bytes | None], ...] = (
    ("GET", "/hello", None),
    ("POST", "/hello", b'"Ada"'),
    ("HEAD", "/hello", None),
    ("OPTIONS", "/hello", None),
    ("DELETE", "/hello", None),
    ("GET", "/nothing", None),
    ("GET", "/cron/ticks", None),
    ("GET", "/healthz", None),
    ("GET", "/breaks", None),
    ("GET", "/fails", None),
    ("GET", "/stream", None),
)


@pytest.fixture(scope="module")
def shared() -> Iterator[dict[str, Address]]:
    """All of them, for tests that leave nothing behind; no database is needed to be refused."""
    with made_processes() as children, ExitStack() as served:
        env = environ("postgresql://nobody@127.0.0.1:1/none")
        yield {app: served.enter_context(uvicorn(children, f"{app}:app", env))[0] for app in APPS}


def answers(processes: Processes, app: str) -> list[tuple[str, str, int, dict[str, str], bytes]]:
    with uvicorn(processes, app) as (address, _):
        told = []
        for method, path, content in REQUESTS:
            answer = call(address, path, method, content=content)
            headers = {name: value for name, value in answer.headers.items() if name != "date"}
            told.append((method, path, answer.status_code, headers, answer.content))
        return told


@pytest.mark.parametrize("app", APPS)
def test_each_answer_is_that_of_the_bare_app(processes: Processes, app: str) -> None:
    wrapped = answers(processes, f"{app}:app")
    assert wrapped == answers(processes, f"{app}:bare")
    statuses = {(method, path): status for method, path, status, _, _ in wrapped}
    assert statuses["GET", "/hello"] == 200
    assert statuses["GET", "/nothing"] == 404
    assert statuses["GET", "/fails"] == 500
    assert wrapped[-1][-1] == b"abc"


@pytest.mark.parametrize("app", APPS)
def test_the_middleware_sees_all_but_what_is_ours(processes: Processes, app: str, database: str) -> None:
    with uvicorn(processes, f"{app}:app", environ(database)) as (address, _):
        assert call(address, "/hello").text == "hello "
        assert tick(address)["ran"] is True
        assert call(address, "/api/cron/tick", "POST").status_code == 401
        assert call(address, "/crontick/healthz").json() == {"status": "ok"}
        assert call(address, "/stream").text == "abc"
        assert call(address, "/seen").json() == ["/hello", "/stream", "/seen"]


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_every_method_of_our_paths_is_ours(shared: dict[str, Address], app: str, method: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    answer = call(shared[app], "/cron/tick", method, headers=headers)
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("app", ["app_starlette", "app_fastapi", "app_litestar"])
def test_the_lifespan_runs_once_and_its_state_reaches_requests(processes: Processes, app: str, database: str) -> None:
    with uvicorn(processes, f"{app}:app", environ(database)) as (address, child):
        assert call(address, "/state").json() == [1, 1]
        tick(address)
        assert call(address, "/state").json() == [1, 1]
    assert child.rest() == ["stopped"]


@pytest.mark.parametrize("app", ["app_starlette", "app_fastapi", "app_litestar"])
def test_tasks_behind_an_answer_are_run(shared: dict[str, Address], app: str) -> None:
    assert call(shared[app], "/background").text == "later"
    assert until(lambda: call(shared[app], "/done").json()) == ["done"]


def test_the_app_goes_on_while_a_tick_runs(processes: Processes, database: str, tmp_path: Path) -> None:
    told = tmp_path / "told"
    with (
        psycopg.connect(database, autocommit=True) as conn,
        uvicorn(processes, "app_starlette:app", environ(database)) as (address, _),
    ):
        conn.execute("select crontick.enqueue('wait', jsonb_build_object('path', %s::text))", [str(told)])
        with ThreadPoolExecutor(1) as caller:
            ticked = caller.submit(tick, address)
            until(lambda: conn.execute("select from crontick.jobs where status = 'running'").fetchone() is not None)
            assert call(address, "/hello").text == "hello "
            assert not ticked.done()
            told.touch()
            assert ticked.result(30)["succeeded"] == 1
