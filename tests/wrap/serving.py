"""Somebody's app under uvicorn, as a process of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from crontick.handler.loopback import HOST, free_port
from tests.door.serving import TOKEN
from tests.worlds.process import Child, Processes
from tests.worlds.waiting import listens, until

Address = tuple[str, int]


def environ(database: str, **more: str) -> dict[str, str]:
    """A deployment's settings, and none of those that the tests themselves run with."""
    unset = {name: "" for name in os.environ if name.startswith(("CRON", "DATABASE_URL"))}
    ours = {"CRONTICK_DATABASE_URL": database, "CRON_SECRET": TOKEN, "CRONTICK_ENVIRONMENT": "test"}
    return {**unset, **ours, "CRONTICK_MODULES": "tests.cli.acme,tests.wrap.kinds", **more}


@contextmanager
def uvicorn(
    processes: Processes, app: str, env: dict[str, str] | None = None, *, workers: int = 1
) -> Iterator[tuple[Address, Child]]:
    """Where the app is served, and its process, which is asked to end as a host would ask it."""
    address: Address = HOST, free_port()
    options = ("--port", str(address[1]), "--workers", str(workers), "--log-level", "warning")
    child = processes.run("-m", "uvicorn", f"tests.wrap.{app}", *options, env={"PYTHONHASHSEED": "0", **(env or {})})
    try:
        until(lambda: listens(address[1]) or child.process.poll() is not None, seconds=30)
        yield address, child
    finally:
        child.terminate()
        child.wait()


def call(address: Address, path: str, method: str = "GET", **options: Any) -> httpx.Response:
    """An answer over real HTTP."""
    url = f"http://{address[0]}:{address[1]}{path}"
    with httpx.Client(trust_env=False, timeout=30) as client:
        return client.request(method, url, **options)


def tick(address: Address, **asked: object) -> dict[str, Any]:
    """The summary of a tick."""
    answer = call(address, "/cron/tick", "POST", headers={"authorization": f"Bearer {TOKEN}"}, json=asked)
    assert answer.status_code == 200, answer.text
    summary = answer.json()
    assert isinstance(summary, dict)
    return summary
