"""What is logged of a failed attempt: one line, under a name that stays."""

import logging
import re
from pathlib import Path
from typing import Any

import pytest

from crontick.jobs import Context, Permanent, Retry, kind
from tests.engine.conftest import World

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[2]


@kind("troubled", timeout=0.5, max_attempts=2)
async def troubled(payload: str, ctx: Context) -> None:
    """End as it is told to."""
    match payload:
        case "raise":
            raise ValueError("a bug")
        case "retry":
            raise Retry(after=60)
        case "permanent":
            raise Permanent("no such user", status_code=404)
        case "complete":
            async with ctx.db() as conn:
                await ctx.complete(conn)
        case "complete in vain":
            async with ctx.db() as conn:
                await conn.execute("begin")
                await ctx.complete(conn)
        case "hang":
            await ctx.loop.create_future()


@pytest.mark.parametrize(
    ("payload", "event", "said"),
    [
        ("raise", "attempt_failed", "raised in attempt 1: ValueError: a bug\n"),
        ("retry", "attempt_failed", "failed in attempt 1: "),
        ("permanent", "attempt_dead", "no such user"),
        ("hang", "attempt_failed", "did not end within 0.5 s"),
        ("complete in vain", "attempt_failed", "complete was not committed"),
    ],
)
async def test_a_failed_attempt_is_one_line(
    world: World, caplog: pytest.LogCaptureFixture, payload: str, event: str, said: str
) -> None:
    job = await troubled.enqueue(world.conn, payload)
    await world.tick(troubled)
    [record] = [record for record in caplog.records if record.name == "crontick.run"]
    fields: dict[str, Any] = record.__dict__["fields"]
    assert (fields["event"], fields["job"], fields["kind"], fields["attempt"]) == (event, job, "troubled", 1)
    assert said in record.getMessage()
    assert ("test_events.py" in record.getMessage()) is (payload == "raise")
    assert fields["status_code"] == (404 if payload == "permanent" else None)


@pytest.mark.parametrize("payload", ["succeed", "complete"])
async def test_what_succeeds_is_not_told(world: World, caplog: pytest.LogCaptureFixture, payload: str) -> None:
    caplog.set_level(logging.DEBUG, "crontick")
    await troubled.enqueue(world.conn, payload)
    await world.tick(troubled)
    assert await world.one("select kinds #>> '{troubled,failed}' from crontick.ticks") == "0"
    assert [record for record in caplog.records if record.name == "crontick.run"] == []


def test_the_document_has_every_event_and_no_other() -> None:
    sources = [path.read_text() for folder in ("handler", "jobs") for path in (ROOT / folder).rglob("*.py")]
    lines = [line for text in sources for line in text.splitlines() if '"event":' in line]
    told = {name for line in lines for name in re.findall(r'"((?:tick|attempt|watch)_?\w*)"', line)}
    document = (ROOT / "docs" / "observability.md").read_text()
    logs = document.partition("## Logs")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", logs, re.MULTILINE)) == told
