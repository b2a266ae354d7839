"""``crontick verify-trigger``: real calls of a live server, seen in its database and through its API."""

import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx
import psycopg
import pytest

from crontick.handler.front import front_door
from crontick.jobs.deployment import load_deployment
from crontick.jobs.settings import Settings
from tests.cli.conftest import Command
from tests.door.serving import ADMIN, TOKEN, served
from tests.worlds.process import Child, Processes
from tests.worlds.proxy import Proxy
from tests.worlds.waiting import until

Conn = psycopg.Connection[Any]
GITHUB = "crontick-github-actions/1"
MAIN = "from crontick.handler.cli import main; main()"
EVERY_15_MINUTES = """
insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, trigger)
select n, at, at, at, at, 'github-actions'
from (
    select n, crontick.now() - interval '40 minutes' - n * interval '15 minutes' as at from generate_series(0, 40) as n
) as t
"""


@pytest.fixture
def url(cli: Command, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the command line's own deployment is served."""
    monkeypatch.setenv("CRONTICK_ADMIN_SECRET", ADMIN)
    settings = Settings.from_environ(os.environ)
    deployment = load_deployment(settings)
    with served(front_door(settings, lambda: deployment)) as (host, port):
        yield f"http://{host}:{port}"


def call(url: str, agent: str, token: str = TOKEN, **body: str) -> httpx.Response:
    headers = {"authorization": f"Bearer {token}", "user-agent": agent}
    return httpx.post(f"{url}/cron/tick", headers=headers, json=body, timeout=60, trust_env=False)


def said(child: Child, sentence: str) -> bool:
    return sentence in child.errors


@pytest.fixture
def places(url: str) -> list[list[str]]:
    """How a command asks the database, and the deployment."""
    return [[], ["--url", url]]


def test_a_tick_that_comes_while_it_waits_is_told_with_its_trigger(
    url: str, places: list[list[str]], processes: Processes
) -> None:
    for place in places:
        waiting = processes.start(MAIN, "verify-trigger", "--within", "10m", *place)
        sentence = "waiting up to 10m for a tick of a trigger outside"
        until(partial(said, waiting, sentence), seconds=60)
        assert call(url, "curl/8", "0" * 20).status_code == 401
        assert call(url, GITHUB).json()["ran"] is True
        assert waiting.wait(seconds=60) == 0, waiting.errors
        (line,) = waiting.rest()
        assert re.fullmatch(r"github-actions called tick \d+ at .*Z \(empty\); how late is not known .*", line)


def test_how_late_it_came_is_told_against_when_it_was_due_or_what_is_expected(
    cli: Command, url: str, places: list[list[str]], sync_conn: Conn
) -> None:
    sync_conn.execute(EVERY_15_MINUTES)
    since = datetime.now(UTC)
    cli("tick")
    call(url, GITHUB)
    call(url, "Amazon/EventBridge", scheduled_for=(since - timedelta(minutes=3)).isoformat())
    for place in places:
        waiting = ["verify-trigger", "--since", since.isoformat(), *place]
        told = cli(*waiting)
        assert (told.status, told.out.split()[0]) == (0, "github-actions"), "the first, and not the command line's"
        assert re.search(r"\(empty\), 2\dm.* late: every 15m, and 4\dm.* after the last\n$", told.out)
        assert cli(*waiting, "--trigger", "command-line").out.startswith("command-line called tick")
        late = cli(*waiting, "--trigger", "eventbridge", "--json").json
        assert (late["expected"], late["gap"], late["tick"]["trigger"]) == (None, None, "eventbridge")
        assert late["late"] == late["tick"]["late"] >= 180
        assert re.search(r"\(empty\), 3m.* after it was due\n$", cli(*waiting, "--trigger", "eventbridge").out)


def test_when_nothing_outside_calls_it_says_what_was_seen_and_what_to_look_at(
    cli: Command, url: str, places: list[list[str]]
) -> None:
    before = datetime.now(UTC).isoformat()
    cli("tick")
    for place in places:
        told = cli("verify-trigger", "--since", before, "--within", "0s", *place)
        assert (told.status, told.out) == (1, "")
        assert "nothing outside has called in the last seven days\n" in told.err
        assert "crontick itself ticked meanwhile (command-line)" in told.err
        for mend in ("Authorization: Bearer", "POST https://app.example/cron/tick", "60 days", "often by ten minutes"):
            assert mend in told.err
    call(url, GITHUB)
    for place in places:
        told = cli("verify-trigger", "--within", "0s", "--json", *place)
        assert (told.status, told.json["tick"], len(told.json["mends"])) == (1, None, 5)
        assert re.match("github-actions called last .* before this wait", told.json["facts"][0])


def test_one_that_cannot_be_asked_at_all_is_an_error_at_once(bare: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRONTICK_ADMIN_SECRET", ADMIN)
    told = bare("verify-trigger", "--url", "http://127.0.0.1:9")
    assert (told.status, told.err) == (1, "127.0.0.1:9 does not answer (ConnectError)\n")


def test_on_a_terminal_something_moves_and_a_database_that_is_away_for_a_time_is_asked_again(
    cli: Command, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours, its = pty.openpty()
    os.set_blocking(ours, False)
    seen: list[bytes] = []

    def look(fact: str = "") -> bool:
        with suppress(BlockingIOError):
            seen.append(os.read(ours, 65536))
        return fact.encode() in b"".join(seen)

    with monkeypatch.context() as behind:
        behind.setenv("CRONTICK_DATABASE_URL", proxy.url)
        behind.setenv("TERM", "xterm")
        command = [sys.executable, "-c", MAIN, "verify-trigger", "--within", "10m", "--trigger", "command-line"]
        waiting = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=its, text=True)
    try:
        until(lambda: look("waiting up to 10m for a tick of command-line"), seconds=60)
        proxy.lose_next_answer = True
        until(lambda: look() and not proxy.lose_next_answer)
        proxy.cut_after = 1
        until(lambda: look() and proxy.cut_after is None)
        assert waiting.poll() is None
        cli("tick")
        until(lambda: look() and waiting.poll() is not None, seconds=60)
        assert waiting.returncode == 0, b"".join(seen)
    finally:
        waiting.kill()
        said, _ = waiting.communicate(timeout=30)
        os.close(ours)
        os.close(its)
    assert said.startswith("command-line called tick 1 at ")
