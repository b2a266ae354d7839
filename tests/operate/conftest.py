"""Jobs of every state in a database of the test's own, and a connection as the API has one."""

from typing import Any

import httpx
import msgspec
import psycopg
import pytest
from starlette.types import ASGIApp

from crontick.handler.front import front_door
from crontick.jobs import Context, Permanent, kind
from crontick.jobs.deployment import load_deployment
from crontick.jobs.sections import ApiSettings
from crontick.jobs.settings import Settings
from tests.engine.conftest import World


@kind("greet")
async def greet(payload: dict[str, Any]) -> str:
    """Succeed."""
    return f"hello {payload.get('name')}"


@kind("break_at_once")
async def break_at_once(payload: dict[str, Any]) -> None:
    """End dead, of an error that says why."""
    raise Permanent(str(payload.get("why", "it broke")))


@kind("mail", marker="key", timeout=5)
async def mail(payload: dict[str, str], ctx: Context) -> None:
    """Begin to send, and end in doubt."""
    async with ctx.once():
        raise RuntimeError("the line went dead after DATA")


@kind("secretive", secret=["token"])
async def secretive(payload: dict[str, str]) -> None:
    """End dead, with something that nobody may see."""
    raise Permanent("no")


KINDS = (greet, break_at_once, mail, secretive)


class Operated(World):
    """``World`` with shorthands: enqueue plainly, and tick until nothing is due."""

    async def enqueue(self, name: str, payload: str = "{}", **options: Any) -> int:
        extra = "".join(f", {option} => %({option})s" for option in options)
        text = f"select crontick.enqueue(%(kind)s, %(payload)s{extra})"
        cursor = await self.conn.execute(text.encode(), {"kind": name, "payload": payload, **options})
        [job] = await cursor.fetchone() or [0]
        return int(job)

    async def dead(self, *whys: str) -> list[int]:
        """Jobs that died of these errors."""
        jobs = [await self.enqueue("break_at_once", f'{{"why": "{why}"}}') for why in whys]
        await self.tick(*KINDS)
        return jobs


@pytest.fixture
def operated(database: str, conn: psycopg.AsyncConnection[Any]) -> Operated:
    return Operated(database, conn)


CRON = "3f9b1c0de7a24586b1f0"
ADMIN = "a81c5e0f7d2b43968e1f0c7a5d3b2914"
ENQUEUE = "77c1d0aa52e94b3f8d06"


def settings_of(url: str, **more: Any) -> Settings:
    return Settings(
        **{
            "database_url": url,
            "environment": "test",
            "keep_connection_seconds": 0,
            "cron_secrets": (CRON,),
            "admin_secrets": (ADMIN,),
            "enqueue_secrets": (ENQUEUE,),
            **more,
        }
    )


def app_of(settings: Settings, offered: tuple[str, ...] = ("greet", "secretive", "mail")) -> ASGIApp:
    """The front door of a deployment with ``KINDS``, which offers some of them to ``POST /api/jobs``."""
    loaded = load_deployment(settings, kinds=KINDS)
    config = msgspec.structs.replace(loaded.config, api=ApiSettings(kinds=offered))
    deployment = msgspec.structs.replace(loaded, config=config)
    return front_door(settings, lambda: deployment)


class Api:
    """``get`` and ``post`` as somebody who has the admin's token, or another."""

    def __init__(self, app: ASGIApp) -> None:
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app.example")

    async def ask(self, method: str, path: str, token: str | None = ADMIN, **more: Any) -> httpx.Response:
        headers = [*more.pop("headers", []), *([("authorization", f"Bearer {token}")] if token else [])]
        return await self._client.request(method, path, headers=headers, **more)

    async def get(self, path: str, token: str | None = ADMIN) -> Any:
        answer = await self.ask("GET", path, token)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, body: object, status: int = 200) -> Any:
        answer = await self.ask("POST", path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def enqueue(self, body: object, key: str | None = None, status: int = 201) -> Any:
        headers = [] if key is None else [("idempotency-key", key)]
        sent = {"content": body} if isinstance(body, bytes) else {"json": body}
        answer = await self.ask("POST", "/api/jobs", ENQUEUE, headers=headers, **sent)
        assert answer.status_code == status, answer.text
        return answer.json()


@pytest.fixture
def api(database: str) -> Api:
    return Api(app_of(settings_of(database)))
