"""The documents' curl lines tick, keep the token off every command line, and fail where no tick answered."""

import os
import re
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.door.deployed import environ, uvicorn
from tests.door.serving import TOKEN
from tests.worlds.http_receiver import Answer, HttpReceiver
from tests.worlds.process import ROOT
from tests.worlds.waiting import until

HTML = {"content-type": "text/html"}


def line(page: str) -> str:
    (found,) = re.findall(r"```sh\n(printf.*?)```", (ROOT / page).read_text(), re.DOTALL)
    return str(found)


def start(command: str, url: str) -> "subprocess.Popen[str]":
    variables = {"PATH": "/usr/bin:/bin", "CRON_SECRET": TOKEN, "CRONTICK_URL": url}
    told = command.replace("https://app.example", url)
    shell = ["/bin/sh", "-c", told]
    return subprocess.Popen(shell, env=variables, stdout=subprocess.PIPE, text=True, start_new_session=True)


def run(command: str, url: str) -> tuple[int, str]:
    process = start(command, url)
    said, _ = process.communicate(timeout=30)
    return process.returncode, said


@pytest.mark.parametrize("page", ["README.md", "docs/github-actions.md"])
def test_the_line_ticks(database: str, sync_conn: psycopg.Connection[Any], page: str) -> None:
    with uvicorn(environ(database)) as (host, port):
        status, said = run(line(page), f"http://{host}:{port}")
    assert (status, '"ran":true' in said) == (0, True)
    assert sync_conn.execute("select trigger from crontick.ticks").fetchall() == [("curl",)]


@pytest.mark.parametrize("page", ["README.md", "docs/github-actions.md"])
def test_no_command_line_has_the_token(http_receiver: HttpReceiver, page: str) -> None:
    http_receiver.otherwise = Answer(hang=True)
    process = start(line(page), http_receiver.url)
    (request,) = until(lambda: http_receiver.requests)
    commands = command_lines()
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert any(b"curl" in command and http_receiver.url.encode() in command for command in commands)
    assert not any(TOKEN.encode() in command for command in commands)


def command_lines() -> list[bytes]:
    """Of every process on this machine."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended
            found.append(path.read_bytes())
    return found


@pytest.mark.parametrize(
    "answer",
    [
        Answer(302, b"<html>Redirecting</html>", HTML | {"location": "/login"}),
        Answer(200, b"<html>Log in</html>", HTML),
        Answer(200, b'{"status":"ok"}'),
        Answer(200, b""),
        Answer(401, b'{"detail":"the token is missing or wrong"}'),
    ],
)
def test_the_line_fails_where_no_tick_answered(http_receiver: HttpReceiver, answer: Answer) -> None:
    http_receiver.otherwise = answer
    status, said = run(line("docs/github-actions.md"), http_receiver.url)
    assert (status, said) == (1, "")
