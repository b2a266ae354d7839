"""The real server, as processes of its own: started, called over HTTP, and killed."""

import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from crontick.handler.loopback import HOST, free_port

_START_SECONDS = 20.0


@dataclass(slots=True)
class Server:
    """One uvicorn with ``crontick.handler.asgi:app``."""

    port: int
    token: str = field(repr=False)
    process: subprocess.Popen[bytes] = field(repr=False)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{HOST}:{self.port}"

    def tick(self, **asked: Any) -> dict[str, Any]:
        """``POST /cron/tick``; raises ``httpx.HTTPError`` when there is no good answer."""
        response = httpx.post(
            f"{self.url}/cron/tick",
            json=asked,
            headers={"authorization": f"Bearer {self.token}", "user-agent": "crontick-demo"},
            timeout=30,
            trust_env=False,
        )
        response.raise_for_status()
        summary: dict[str, Any] = response.json()
        return summary

    def kill(self) -> None:
        """SIGKILL: no goodbye."""
        self.process.kill()
        self.process.wait()


@contextmanager
def server(folder: Path, environ: dict[str, str]) -> Iterator[Server]:
    """Serve from that folder, ready when inside; ended when left."""
    port, token = free_port(), secrets.token_hex(32)
    log = folder / f"server-{port}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(  # noqa: S603 (our own interpreter, our own module)
            [sys.executable, "-m", "uvicorn", "crontick.handler.asgi:app", "--port", str(port), "--no-access-log"],
            cwd=folder,
            env={**os.environ, **environ, "CRON_SECRET": token},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
        )
    serving = Server(port, token, process)
    try:
        _wait_for(serving, log)
        yield serving
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(serving: Server, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            httpx.get(f"{serving.url}/healthz", timeout=2, trust_env=False).raise_for_status()
            return
        except httpx.HTTPError:
            if serving.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the server did not start:\n{log.read_text(errors='replace')}") from None
        time.sleep(0.05)
