"""The oldest code that the schema says it serves can still run a tick (P14)."""

import json
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.sql import OLDEST_CODE
from tests.sql.conftest import Sql

KINDS = json.dumps([{"name": "mail", "queue": "post", "priority": 0, "max_attempts": 5}])
MARKERS = json.dumps({"mail": {"field": "key", "in_doubt": "park"}})
SAID = Path(__file__).parent / f"code_{OLDEST_CODE}.sql"


class OldTick:
    """One tick of it, a statement at a time."""

    def __init__(self, conn: psycopg.Connection[Any], opening: int) -> None:
        self._conn = conn
        named = re.split(r"^-- name: (\w+)\n", SAID.read_text(), flags=re.MULTILINE)[1:]
        self._statements = dict(zip(named[::2], named[1::2], strict=True))
        self._known: dict[str, Any] = {"known": ["mail"], "kinds": None, "queues": None, "jobs": None}
        self._opening = opening

    def say(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        told = {"opening": self._opening, **self._known, **values}
        return self._conn.execute(self._statements[statement].encode(), told).fetchall()

    def open(self) -> tuple[Any, ...]:
        [row] = self.say(
            "open_tick",
            schema=OLDEST_CODE,
            environment="test",
            version="0",
            deployment="old",
            budget_seconds=25.0,
            lease_seconds=40.0,
            max_parallel=4,
            paused=False,
            trigger="curl",
            scheduled_for=None,
            token="",
            host="",
            host_request_id=None,
        )
        return row

    def claim(self, claim: int, markers: str | None) -> list[tuple[Any, ...]]:
        self.say("place_groups")
        return self.say(
            "claim_jobs",
            claim=claim,
            seats=20,
            running=0,
            given=0,
            lease_seconds=40.0,
            markers=markers,
            suspects=True,
            repeat=False,
        )

    def settle(self, plain: list[int], endings: list[dict[str, Any]], claim: int) -> tuple[Any, ...]:
        told = json.dumps([{"claim": claim, "completed": False, **ending} for ending in endings])
        claims = [claim] * len(plain)
        [row] = self.say("settle_attempts", ids=plain, claims=claims, endings=told, progress=None)
        return row

    def close(self, claim: int) -> tuple[Any, ...]:
        kept = [604800.0, 7776000.0, 2592000.0, 604800.0]
        [row] = self.say(
            "close_tick",
            claim=claim,
            running=0,
            stop_reason="empty",
            ask_again=True,
            parked=0,
            retention_seconds=kept,
        )
        return row


def test_what_the_oldest_code_says_is_kept() -> None:
    assert SAID.exists(), f"{SAID.name}: the statements of a tick as code of schema {OLDEST_CODE} has them"


@pytest.mark.parametrize("markers", [None, MARKERS], ids=["plain", "marked"])
def test_the_oldest_code_opens_claims_settles_and_closes(sql: Sql, markers: str | None) -> None:
    old = OldTick(sql.conn, 7)
    old.say("sync_deployment", hash="old", version="0", kinds=KINDS, strict=False)
    jobs = {
        fate: sql.enqueue(payload=json.dumps({"key": fate})) for fate in ("plain", "told", "failed", "dead", "snoozed")
    }
    assert old.open()[1] is True
    assert sorted(row[0] for row in old.claim(11, markers)) == sorted(jobs.values())

    def mark(fate: str, state: str) -> dict[str, Any]:
        sent: dict[str, Any] = {"kind": "mail", "key": fate, "state": state, "provider": "smtp", "message_id": "m1"}
        return {"marks": [{**sent, "content_hash": None}]} if markers else {}

    lost, held, *_ = old.settle(
        [] if markers else [jobs["plain"]],
        [
            *([{"id": jobs["plain"], "outcome": "succeeded", **mark("plain", "sent")}] if markers else []),
            {
                "id": jobs["told"],
                "outcome": "succeeded",
                "result": {"n": 1},
                "duplicate": False,
                **mark("told", "sent"),
            },
            {"id": jobs["failed"], "outcome": "failed", "error": "no", "delay_seconds": 60.0, **mark("failed", "free")},
            {"id": jobs["dead"], "outcome": "dead", "error": "never", "fingerprint": "f", **mark("dead", "in_doubt")},
            {"id": jobs["snoozed"], "outcome": "snoozed", "delay_seconds": 60.0, **mark("snoozed", "free")},
        ],
        11,
    )
    assert (lost, held) == ([], [])
    assert old.claim(12, markers) == []
    assert old.close(12)[0] is True
    assert [sql.job(job)["status"] for job in jobs.values()] == ["succeeded", "succeeded", "failed", "dead", "queued"]
    kept = sql.rows("select key, state from crontick.markers order by key")
    assert kept == ([("dead", "in_doubt"), ("plain", "sent"), ("told", "sent")] if markers else [])
