"""A request that comes before its process is ready is a tick: the daily one may wake the container every time."""

import os
import socket
import subprocess
import sys
from typing import Any

import psycopg
import pytest

from tests.door.serving import head, read_answer
from tests.worlds.process import ROOT
from tests.wrap.serving import environ

ROUNDS = 2


@pytest.mark.parametrize("app", ["crontick.handler.asgi:app", "tests.wrap.app_starlette:app"])
def test_what_is_sent_as_the_process_starts_ticks(database: str, sync_conn: psycopg.Connection[Any], app: str) -> None:
    for _ in range(ROUNDS):
        sync_conn.execute("select crontick.enqueue('greet')")
        with socket.create_server(("127.0.0.1", 0)) as listening:
            process = start(app, listening, database)
            try:
                with socket.create_connection(listening.getsockname(), timeout=30) as caller:
                    caller.sendall(head())
                    answer = read_answer(caller)
            finally:
                process.terminate()
                process.wait(30)
        assert (answer.status, answer.json.get("succeeded")) == (200, 1), answer.body
    assert sync_conn.execute("select count(*) from crontick.ticks").fetchone() == (ROUNDS,)


def start(app: str, listening: socket.socket, database: str) -> "subprocess.Popen[bytes]":
    """The server on a socket that already takes connections, as a host's proxy does for a container that wakes."""
    command = [sys.executable, "-m", "uvicorn", app, "--fd", str(listening.fileno()), "--log-level", "warning"]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    env = {**os.environ, "PYTHONPATH": path, **environ(database)}
    return subprocess.Popen(command, env=env, pass_fds=[listening.fileno()])
