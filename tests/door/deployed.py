"""``crontick.handler.asgi:app`` as a process under uvicorn, with a deployment and a database."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from crontick.handler.loopback import HOST, free_port
from tests.door.serving import TOKEN
from tests.worlds.waiting import listens, until

NOWHERE = "postgresql://app:hunter2@127.0.0.1:1/app"


def environ(database: str, **more: str) -> dict[str, str]:
    ours = {"CRONTICK_DATABASE_URL": database, "CRON_SECRET": TOKEN, "CRONTICK_ENVIRONMENT": "test"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("CRON", "DATABASE_URL"))}
    return {**kept, **ours, "CRONTICK_MODULES": "tests.cli.acme", **more}


@contextmanager
def uvicorn(settings: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The address of the real thing, once it listens."""
    address = HOST, free_port()
    command = [sys.executable, "-m", "uvicorn", "crontick.handler.asgi:app", "--port", str(address[1])]
    process = subprocess.Popen(command, env=dict(settings), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        until(lambda: listens(address[1]) or process.poll() is not None, seconds=30)
        assert process.poll() is None
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)
        assert "Traceback" not in said, said
