"""What a newcomer does after ``pip install``: migrate, enqueue by SQL, serve, tick, look."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg

from crontick.sql.embedded import postgres

SCRIPTS = Path(sys.executable).parent
PAGE = ("login", "static/page.css", "static/page.js", "static/mark.svg")
"""What the page is made of beside its code has to be in the wheel."""


@contextmanager
def served(environ: Mapping[str, str], app: str = "crontick.handler.asgi:app") -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = str(probe.getsockname()[1])
    command = [str(SCRIPTS / "uvicorn"), app, "--port", port]
    with subprocess.Popen(command, env=environ) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            wait_for(url + "/healthz", server)
            yield url
        finally:
            server.terminate()


def wait_for(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while server.poll() is None and time.monotonic() < deadline:
        try:
            httpx.get(url, trust_env=False)  # an app of somebody's own may answer 404
        except httpx.HTTPError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit(f"{url} does not answer")


def main() -> None:
    with postgres() as url:
        environ = {
            **os.environ,
            "CRONTICK_DATABASE_URL": url,
            "CRONTICK_MODULES": "acme",
            "CRON_SECRET": secrets.token_hex(32),
            "CRONTICK_ADMIN_SECRET": secrets.token_hex(32),
        }
        subprocess.run([SCRIPTS / "crontick", "migrate"], env=environ, check=True)
        with psycopg.connect(url, autocommit=True) as conn:
            conn.execute("""select crontick.enqueue('greet', '{"name": "Ada"}')""")
            with served(environ) as door:
                bearer = {"Authorization": f"Bearer {environ['CRON_SECRET']}"}
                answer = httpx.post(door + "/cron/tick", headers=bearer, timeout=60, trust_env=False)
                found = [httpx.get(f"{door}/dashboard/{at}", trust_env=False).status_code for at in PAGE]
            print(json.dumps(answer.json()))
            job = conn.execute("select status, result ->> 'said' from crontick.jobs").fetchone()
    assert answer.status_code == 200, answer.status_code
    assert answer.json()["succeeded"] == 1, answer.text
    assert found == [200] * len(PAGE), found
    assert job == ("succeeded", "Hello Ada"), job
    print("package: the job of the project's own kind succeeded")


if __name__ == "__main__":
    main()
