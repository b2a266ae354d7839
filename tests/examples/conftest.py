"""An example app that runs beside a deployment which knows its kind."""

import base64
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.settings import Settings
from tests.examples.apps import APPS
from tests.worlds.process import Child, Processes

OLD, NEW = ("whsec_" + base64.b64encode(bytes([fill]) * 32).decode() for fill in (5, 6))


class Example:
    """``order`` what a customer would, ``die``, ``start`` again at the same port."""

    def __init__(self, command: list[str], url: str, processes: Processes) -> None:
        self._command = command
        self._url = url
        self._processes = processes
        self.port = 0
        self.child = self.start()

    def start(self) -> Child:
        env = {"DATABASE_URL": self._url, "CRONTICK_SIGNING_SECRET": f"{OLD},{NEW}", "PORT": str(self.port)}
        self.child = self._processes.program(*self._command, env=env)
        said = self.child.line()
        assert said.startswith("listening on "), said
        self.port = int(said.removeprefix("listening on "))
        return self.child

    def die(self) -> None:
        self.child.kill()

    def post(self, path: str, body: Any, headers: dict[str, str] | None = None) -> tuple[int, Any]:
        """Status and JSON of the answer."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(), headers or {}, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)


@pytest.fixture(scope="session", params=APPS)
def command(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return APPS[request.param](tmp_path_factory.mktemp(request.param))


@pytest.fixture
def example(command: list[str], database: str, sync_conn: psycopg.Connection[Any], processes: Processes) -> Example:
    sync_conn.execute(
        "create table orders (id bigint primary key, email text not null, thanked integer not null default 0)"
    )
    return Example(command, database, processes)


@pytest.fixture
def deployed(example: Example, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deployment:
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", NEW)
    path = tmp_path / "crontick.toml"
    path.write_text(f'[kinds.thank]\nurl = "http://127.0.0.1:{example.port}/jobs/thank"\n')
    settings = Settings(database_url=database, environment="test", config_path=path, keep_connection_seconds=0)
    return load_deployment(settings)
