"""``crontick.handler.asgi:app`` as a process under uvicorn, with a deployment and a database."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.door.serving import TOKEN

NOWHERE = "postgresql://app:hunter2@127.0.0.1:1/app"


def environ(database: str, **more: str) -> dict[str, str]:
    ours = {"CRONTICK_DATABASE_URL": database, "CRON_SECRET": TOKEN, "CRONTICK_ENVIRONMENT": "test"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CRON", "DATABASE_URL"))}
    return {**kept, **ours, "CRONTICK_MODULES": "tests.cli.acme", **more}


@contextmanager
def uvicorn(settings: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The address of the real thing; the first request may be sent before it listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    command = [sys.executable, "-m", "uvicorn", "crontick.handler.asgi:app", "--port", str(address[1])]
    process = subprocess.Popen(command, env=dict(settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(address, process)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
        assert "Traceback" not in said, said


def wait_for(address: tuple[str, int], process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        try:
            socket.create_connection(address).close()
        except ConnectionRefusedError:
            time.sleep(0.005)
        else:
            return
    raise AssertionError("the process does not listen")
