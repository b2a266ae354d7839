"""Jobs of every state in a database of the test's own, and a connection as the API has one."""

from typing import Any

import psycopg
import pytest

from crontick.jobs import Context, Permanent, kind
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
