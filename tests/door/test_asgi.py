"""``crontick.handler.asgi:app`` under uvicorn, with a real deployment and a real database."""

import socket
import subprocess
import sys

import psycopg
import pytest

from tests.door.deployed import NOWHERE, environ, uvicorn
from tests.door.serving import ADMIN, exchange, head


def test_the_first_request_of_a_fresh_process_ticks(database: str) -> None:
    with psycopg.connect(database, autocommit=True) as conn:
        conn.execute("select crontick.enqueue('greet'), crontick.enqueue('break_at_once')")
    with uvicorn(environ(database)) as address:
        answer = exchange(address, head("POST", "/cron/tick", "User-Agent: curl/8.5.0"))
    assert answer.status == 200, answer.body
    assert {name: answer.json[name] for name in ("trigger", "claimed", "succeeded", "dead", "more")} == {
        "trigger": "curl",
        "claimed": 2,
        "succeeded": 1,
        "dead": 1,
        "more": False,
    }
    with psycopg.connect(database) as conn:
        row = conn.execute("select trigger, token, stop_reason, claimed from crontick.ticks").fetchone()
    assert row is not None
    assert row == ("curl", row[1], "empty", 2)
    assert len(row[1]) == 8


def test_readiness_tells_whether_a_tick_could_run(database: str) -> None:
    with uvicorn(environ(database, CRONTICK_ADMIN_SECRET=ADMIN)) as address:
        assert exchange(address, head("GET", "/readyz", token=ADMIN)).json == {"status": "ready"}
        with psycopg.connect(database, autocommit=True) as conn:
            conn.execute("update crontick.installation set environment = 'production'")
        answer = exchange(address, head("GET", "/readyz"))
        assert answer.status == 503
        assert 'belongs to the environment "production", not to "test"' in str(answer.json["detail"])
        assert exchange(address, head()).status == 503
        with psycopg.connect(database, autocommit=True) as conn:
            conn.execute("update crontick.installation set environment = 'test', version = 1")
        assert "run `crontick migrate`" in str(exchange(address, head("GET", "/readyz")).json["detail"])


def test_a_database_that_nobody_reaches_is_no_reason_not_to_start() -> None:
    with uvicorn(environ(NOWHERE, CRONTICK_BUDGET_SECONDS="1")) as address:
        assert exchange(address, head("GET", "/healthz", token=None)).status == 200
        for answer in (exchange(address, head()), exchange(address, head("GET", "/readyz"))):
            assert answer.status == 503
            assert int(answer.headers["retry-after"]) > 0
            assert b"hunter2" not in answer.body


def test_a_database_that_accepts_and_says_nothing_is_a_503_within_the_budget() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://app@127.0.0.1:{silent.getsockname()[1]}/app"
        with uvicorn(environ(url, CRONTICK_BUDGET_SECONDS="1")) as address:
            answer = exchange(address, head())  # which the silence alone would keep for ever
    assert answer.status == 503
    assert "out of reach, or waking" in str(answer.json["detail"])


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"CRON_SECRET": ""}, "CRON_SECRET is not set: make one with `openssl rand -hex 32`"),
        ({"CRON_SECRET": "short"}, "CRON_SECRET is shorter than 16 characters"),
        ({"CRON_SECRET": "${{ secrets.CRON_SECRET }}"}, "CRON_SECRET is a placeholder"),
        ({"CRONTICK_DATABASE_URL": ""}, "CRONTICK_DATABASE_URL is not set, nor DATABASE_URL"),
        ({"CRONTICK_MODULES": "tests.nowhere"}, "tests.nowhere"),
        ({"CRONTICK_CONFIG": "/nowhere.toml"}, "there is no file /nowhere.toml"),
    ],
)
def test_the_start_is_refused_with_a_sentence(settings: dict[str, str], said: str) -> None:
    command = [sys.executable, "-m", "uvicorn", "crontick.handler.asgi:app", "--port", "0"]
    started = environ(NOWHERE, **settings)
    run = subprocess.run(command, env=started, capture_output=True, text=True, check=False, timeout=30)
    assert run.returncode == 1
    assert run.stderr.startswith("crontick does not start:\n")
    assert said in run.stderr
    assert "Traceback" not in run.stderr
    assert "hunter2" not in run.stderr


def test_the_door_imports_nothing_that_an_idle_tick_does_not_need() -> None:
    code = "import crontick.handler.asgi, sys; print(*{name.partition('.')[0] for name in sys.modules})"
    started = environ(NOWHERE)
    run = subprocess.run([sys.executable, "-c", code], env=started, capture_output=True, text=True, check=True)
    assert not set(run.stdout.split()) & {
        "httpx",
        "typer",
        "rich",
        "jinja2",
        "aiosmtplib",
        "click",
        "uvicorn",
        "mangum",
    }
