"""What an operator decides over HTTP: breakers, pause and resume, for the admin's token alone."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import psycopg
import pytest

from tests.door.serving import ADMIN, SETTINGS, TOKEN, Answer, Ticks, app_of, exchange, head, served


@pytest.fixture
def address(database: str) -> Iterator[tuple[str, int]]:
    with served(app_of(Ticks(), msgspec.structs.replace(SETTINGS, database_url=database))) as listening:
        yield listening


def post(address: tuple[str, int], path: str, body: object, token: str | None = ADMIN) -> Answer:
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    return exchange(address, head("POST", path, f"Content-Length: {len(sent)}", token=token) + sent)


def breakers(address: tuple[str, int]) -> Any:
    answer = exchange(address, head("GET", "/api/breakers", token=ADMIN))
    assert answer.status == 200
    return answer.json["breakers"]


def test_a_breaker_is_opened_read_and_closed(address: tuple[str, int], database: str) -> None:
    told = {"target": "endpoint:crm", "by": "ann", "reason": "their maintenance"}
    with psycopg.connect(database) as conn:
        conn.execute("select crontick.set_endpoint('crm', 'https://crm.example/hooks')")
        conn.execute("delete from crontick.audit_log")
    assert post(address, "/api/breakers/open", told).json == {"target": "endpoint:crm", "state": "open"}
    [found] = breakers(address)
    assert (found["target"], found["state"], found["by"], found["reason"]) == (
        *("endpoint:crm", "open", "ann"),
        "their maintenance",
    )
    assert post(address, "/api/breakers/close", told).status == 200
    assert post(address, "/api/breakers/reset", told).status == 404  # nothing was remembered of it
    with psycopg.connect(database) as conn:
        rows = conn.execute("select action, by, reason from crontick.audit order by id").fetchall()
    assert rows == [("open_breaker", "ann", "their maintenance"), ("close_breaker", "ann", "their maintenance")]


def test_work_is_paused_and_resumed(address: tuple[str, int], database: str) -> None:
    told = {"what": "queue", "name": "mail", "by": "ann"}
    paused = post(address, "/api/pause", told).json
    assert {**paused, "warning": None} == {"what": "queue", "name": "mail", "paused": True, "warning": None}
    with psycopg.connect(database) as conn:
        assert conn.execute("select what, name, by from crontick.paused").fetchall() == [("queue", "mail", "ann")]
    assert post(address, "/api/resume", told).json == {
        "what": "queue",
        "name": "mail",
        "paused": False,
        "warning": None,
    }
    answer = post(address, "/api/resume", told)
    assert (answer.status, answer.json["detail"]) == (
        404,
        "queue mail is not paused: `crontick status` shows what is paused",
    )


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/api/pause", b"not json", 400),
        ("/api/pause", b"", 400),
        ("/api/pause", {"what": "moon", "by": "ann"}, 422),
        ("/api/pause", {"what": "all"}, 422),
        ("/api/pause", {"what": "all", "by": "ann", "nmae": "x"}, 422),
        ("/api/breakers/open", {"target": "crm", "by": "ann"}, 422),
        ("/api/breakers/open", {"target": "endpoint:crm", "by": ""}, 422),
        ("/api/breakers/close", {"target": "endpoint:crm", "by": "ann"}, 404),
        ("/api/breakers/open", {"target": "https://a.example/" + "x" * 5000, "by": "ann"}, 413),
        ("/api/breakers/open", {"target": "kind:a\x00b", "by": "ann"}, 422),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(
    address: tuple[str, int], path: str, body: object, status: int
) -> None:
    answer = post(address, path, body)
    assert answer.status == status
    assert answer.json["detail"]


@pytest.mark.parametrize("path", ["/api/breakers", "/api/breakers/open", "/api/pause", "/api/resume"])
def test_only_the_admins_token_opens_these_doors(address: tuple[str, int], path: str) -> None:
    assert post(address, path, {}, token=TOKEN).status == 401
    assert post(address, path, {}, token=None).status == 401
    assert exchange(address, head("DELETE", path, token=ADMIN)).status == 405
