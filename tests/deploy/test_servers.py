"""What Compose, the image and Vercel start serves ticks: run here as a process, where it may write nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from crontick.handler.loopback import HOST, free_port
from tests.deploy.folder import DEPLOY, compose, read
from tests.door.serving import TOKEN
from tests.worlds.waiting import listens, until

BEARER = {"authorization": f"Bearer {TOKEN}"}


def unprivileged() -> list[str]:
    """The image's own user, where this one is root: it may read everything, as the image's may what is in the image."""
    if os.geteuid() != 0:
        return []
    reading = "-all,+dac_read_search"
    capabilities = (f"--{which}={reading}" for which in ("inh-caps", "ambient-caps", "bounding-set"))
    return ["setpriv", "--reuid=65532", "--regid=65532", "--clear-groups", *capabilities]


def environment(service: str, database: str) -> dict[str, str]:
    """As Compose interpolates it, with this database in the place of the one beside it, and nothing else."""
    said = {**compose(service)["environment"], "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    assert said["CRON_SECRET"].startswith("${CRON_SECRET:?")
    assert urlsplit(said["CRONTICK_DATABASE_URL"]).hostname == "postgres"
    assert said["CRONTICK_ADMIN_SECRET"] == "${CRONTICK_ADMIN_SECRET:-}"
    return {**said, "CRON_SECRET": TOKEN, "CRONTICK_ADMIN_SECRET": "", "CRONTICK_DATABASE_URL": database}


def run(command: list[str], folder: Path, environ: Mapping[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*unprivileged(), *command], cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False
    )


@contextmanager
def serving(command: list[str], folder: Path, environ: Mapping[str, str], port: int) -> Iterator[str]:
    """The address of the server, which ends when it is told to as a host tells it, with nothing running."""
    process = subprocess.Popen(
        [*unprivileged(), *command],
        cwd=folder,
        env=environ,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    try:
        until(lambda: listens(port) or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        yield f"http://{HOST}:{port}"
    finally:
        process.terminate()
        _, said = process.communicate(timeout=30)
        assert "Traceback" not in said, said


@contextmanager
def read_only(folder: Path) -> Iterator[Path]:
    """A folder that anyone may enter, and nobody but root may write to."""
    folder.mkdir()
    folder.chmod(0o555)
    try:
        yield folder
    finally:
        folder.chmod(0o755)


def test_compose_s_commands_migrate_serve_and_are_healthy_without_writing(raw_database: str, tmp_path: Path) -> None:
    port = free_port()
    environ = environment("app", raw_database)
    command = [str(port) if word == "8080" else word for word in compose("app")["command"]]
    program, *check = compose("app")["healthcheck"]["test"]
    asked = [word.replace("8080", str(port)) for word in check]
    assert (program, command[command.index("--host") + 1]) == ("CMD", "0.0.0.0")
    command[command.index("--host") + 1] = HOST
    with read_only(tmp_path / "app") as folder:
        migrated = run(compose("migrate")["command"], folder, environment("migrate", raw_database))
        assert migrated.returncode == 0, migrated.stderr
        assert run(asked, folder, environ).returncode == 1
        with serving(command, folder, environ, port) as url:
            assert run(asked, folder, environ).returncode == 0
            answer = httpx.post(f"{url}/cron/tick", headers=BEARER, timeout=60, trust_env=False)
        assert (answer.status_code, answer.json()["ran"], answer.headers.get("server")) == (200, True, None)
        assert list(folder.iterdir()) == []


def test_vercel_s_function_ticks_when_its_cron_gets_it(database: str, tmp_path: Path) -> None:
    (cron,) = read("vercel/vercel.json")["crons"]
    port = free_port()
    environ = {
        "PATH": os.environ["PATH"],
        "CRONTICK_DATABASE_URL": database,
        "CRONTICK_ENVIRONMENT": "test",
        "CRON_SECRET": TOKEN,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    folder = DEPLOY / "vercel" / "api" / "cron"
    command = [sys.executable, "-m", "uvicorn", "tick:app", "--app-dir", str(folder), "--port", str(port)]
    with read_only(tmp_path / "task") as task, serving(command, task, environ, port) as url:
        told = {"user-agent": "vercel-cron/1.0"}
        answer = httpx.get(url + cron["path"], headers=BEARER | told, timeout=60, trust_env=False)
        refused = httpx.get(url + cron["path"], headers=told, trust_env=False)
    assert (answer.status_code, answer.json()["trigger"], refused.status_code) == (200, "vercel-cron", 401)
