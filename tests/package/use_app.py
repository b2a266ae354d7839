"""What the author of an app does with it: migrate, serve, order, tick, look, and run its tests."""

import json
import os
import secrets
import subprocess
import sys

import httpx
from use import SCRIPTS, served

from crontick.sql.embedded import postgres

APPS = {
    "fastapi_app": ("shop.main:app", "shop.background", []),
    "django_app": ("store.asgi:application", "orders.background", [sys.executable, "manage.py", "migrate"]),
}
WISH = {"email": "ada@users.example", "cents": 4200}


def main(name: str) -> None:
    app, modules, migrate = APPS[name]
    with postgres() as url:
        environ = {
            **os.environ,
            "DATABASE_URL": url,
            "CRONTICK_MODULES": modules,
            "CRON_SECRET": secrets.token_hex(32),
            "PYTHONPATH": os.curdir,
        }
        for command in ([str(SCRIPTS / "crontick"), "migrate"], migrate):
            if command:
                subprocess.run(command, env=environ, check=True)
        with served(environ, app) as door:
            made = httpx.post(f"{door}/orders", json=WISH, trust_env=False)
            assert made.status_code == 201, made.text
            bearer = {"Authorization": f"Bearer {environ['CRON_SECRET']}"}
            answer = httpx.post(f"{door}/cron/tick", headers=bearer, timeout=60, trust_env=False)
            print(json.dumps(answer.json()))
            assert (answer.status_code, answer.json()["succeeded"]) == (200, 1), answer.text
            found = httpx.get(f"{door}/orders/{made.json()['id']}", trust_env=False).json()
            assert found["receipt_sent"] is True, found
        tests = {name: value for name, value in environ.items() if not name.startswith(("CRONTICK_", "DATABASE_"))}
        subprocess.run([sys.executable, "-m", "pytest", "-q"], env={**tests, "DATABASE_URL": url}, check=True)
    print(f"package: {name} was served, ticked and tested")


if __name__ == "__main__":
    main(sys.argv[1])
