"""Watching: look after look in a pipe, a screen of its own on a terminal, and an end without noise."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

COMMAND = [sys.executable, "-c", "from crontick.handler.cli import main; main()", "status", "--watch", "--every", "1s"]
END_SECONDS = 60


@pytest.fixture
def environ(database: str) -> dict[str, str]:
    return {**os.environ, "CRONTICK_DATABASE_URL": database, "CRONTICK_ENVIRONMENT": "test", "TERM": "xterm"}


@contextmanager
def watching(environ: dict[str, str], *more: str, **streams: Any) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([*COMMAND, *more], env=environ, text=True, **streams)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_pipe_gets_one_look_after_another_until_ctrl_c(environ: dict[str, str]) -> None:
    with watching(environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        seen = [process.stdout.readline() for _ in range(3)]
        assert seen[0].startswith("environment test; no tick yet")
        assert (seen[1], seen[2]) == ("\n", seen[0])
        process.send_signal(signal.SIGINT)
        assert process.wait(END_SECONDS) == 0
        assert process.stderr.read() == ""


def test_a_reader_that_goes_ends_it_in_silence(environ: dict[str, str]) -> None:
    with watching(environ, "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith("{")
        process.stdout.close()
        assert process.wait(END_SECONDS) == 0
        assert process.stderr.read() == ""


def test_a_terminal_gets_a_screen_and_has_its_own_back_afterwards(environ: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    with watching(environ, stdout=theirs, stderr=theirs, stdin=theirs) as process:
        os.close(theirs)
        seen = b""
        while seen.count(b"no tick yet") < 2:
            seen += os.read(ours, 65536)
        process.send_signal(signal.SIGINT)
        while b"\x1b[?1049l" not in seen:
            seen += os.read(ours, 65536)
        assert process.wait(END_SECONDS) == 0
    os.close(ours)
    assert b"\x1b[?1049h" in seen


def test_a_database_that_is_away_is_told_and_looked_for_again(environ: dict[str, str]) -> None:
    away = {**environ, "CRONTICK_DATABASE_URL": "postgresql://127.0.0.1:1/x"}
    with watching(away, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        for _ in range(2):
            assert process.stderr.readline().startswith("the database is out of reach")
