"""What keeps a process from setting an alarm keeps neither its loop from turning nor an enqueue from standing."""

import asyncio
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs import kind
from crontick.jobs.wake import arm_wake, arming
from tests.worlds.http_receiver import HttpReceiver

OFFERED = """
[wake]
provider = "url"
url = "{url}/alarms"
headers = {{ authorization = "Bearer {{{{token}}}}" }}
secrets_env = {{ token = "ALARM_TOKEN" }}
timeout = 30
"""


@kind("note")
async def note(_: dict[str, Any]) -> None: ...


@pytest.fixture
def _configured(http_receiver: HttpReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crontick.toml").write_text(OFFERED.format(url=http_receiver.url))
    monkeypatch.setenv("CRONTICK_CONFIG", str(tmp_path / "crontick.toml"))
    monkeypatch.setattr("crontick.jobs.wake.after_commit.SECONDS", 30.0)
    monkeypatch.setattr(arming, "_ARMED", {})
    monkeypatch.setattr(arming, "_FAILED", {})


@pytest.mark.anyio
@pytest.mark.usefixtures("_configured")
async def test_the_loop_turns_while_a_secret_is_read(
    http_receiver: HttpReceiver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow, turned, told = tmp_path / "token", threading.Event(), []
    os.mkfifo(slow)
    monkeypatch.setenv("ALARM_TOKEN_FROM", f"file:{slow}")

    def tell() -> None:
        told.append(turned.wait(10))
        slow.write_text("a-token-of-the-test")

    telling = threading.Thread(target=tell)
    telling.start()
    asyncio.get_running_loop().call_soon(turned.set)
    wake_at = await arm_wake()
    telling.join()
    assert told == [True]
    assert wake_at is not None
    assert wake_at > datetime.now(UTC)
    assert http_receiver.requests[0].headers["authorization"] == "Bearer a-token-of-the-test"


@pytest.mark.usefixtures("_configured")
def test_an_enqueue_stands_where_no_thread_can_be_started(
    database: str, http_receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALARM_TOKEN", "a-token-of-the-test")

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with psycopg.connect(database, autocommit=True) as conn, monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        job = note.enqueue(conn, {})
        assert conn.execute("select status from crontick.jobs where id = %s", (job,)).fetchone() == ("queued",)
    assert http_receiver.requests == []
