"""What is sent to the tick is run, or refused with a problem that says what to do."""

import asyncio
import json
import re
import socket
from pathlib import Path

import pytest
from starlette.types import Message

from crontick.handler.body import read_body
from crontick.handler.problem import BODY_LATE, RUNBOOK, TYPES, Problem
from crontick.jobs.settings import Settings
from crontick.jobs.unavailable import Unavailable
from tests.door.serving import (
    TOKEN,
    Answer,
    Ticks,
    app_of,
    exchange,
    head,
    read_answer,
    served,
)

ROOT = Path(__file__).parents[2]


def post(address: tuple[str, int], body: bytes, *headers: str) -> Answer:
    return exchange(address, head("POST", "/cron/tick", f"Content-Length: {len(body)}", *headers), body)


def problem(answer: Answer, status: int, anchor: str) -> str:
    """The detail of a problem, after checking that it is a proper one."""
    assert answer.status == answer.json["status"] == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["type"] == f"{RUNBOOK}#{anchor}"
    assert answer.json["title"]
    return str(answer.json["detail"])


@pytest.mark.parametrize("path", ["/cron/tick", "/api/cron/tick"])
def test_both_paths_tick(address: tuple[str, int], ticks: Ticks, path: str) -> None:
    answer = exchange(address, head("POST", path))
    assert (answer.status, answer.json["tick"], answer.json["ran"]) == (200, 1, True)
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("content_type", ["application/json", "text/plain", "application/x-www-form-urlencoded", ""])
def test_a_body_is_read_whatever_its_content_type(address: tuple[str, int], ticks: Ticks, content_type: str) -> None:
    assert post(address, b'{"limit": 7}', f"Content-Type: {content_type}").status == 200
    assert ticks.asked[0][0].limit == 7


def test_a_body_in_chunks_is_read(address: tuple[str, int], ticks: Ticks) -> None:
    chunks = b'6\r\n{"limi\r\n6\r\nt": 7}\r\n0\r\n\r\n'
    assert exchange(address, head("POST", "/cron/tick", "Transfer-Encoding: chunked"), chunks).status == 200
    assert ticks.asked[0][0].limit == 7


def test_a_body_of_exactly_the_limit_is_read_and_one_byte_more_is_not(address: tuple[str, int], ticks: Ticks) -> None:
    assert post(address, b'{"limit": 7}'.ljust(4096)).status == 200
    assert "4096 bytes" in problem(post(address, b'{"limit": 7}'.ljust(4097)), 413, "body-too-large")
    assert len(ticks.asked) == 1


def test_a_length_that_is_too_large_is_refused_before_anything_is_read(address: tuple[str, int], ticks: Ticks) -> None:
    announced = head("POST", "/cron/tick", "Content-Length: 99999999999")
    problem(exchange(address, announced), 413, "body-too-large")
    assert ticks.asked == []


def test_a_flood_of_chunks_is_cut_off_at_the_limit(address: tuple[str, int], ticks: Ticks) -> None:
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(head("POST", "/cron/tick", "Transfer-Encoding: chunked"))
        connection.sendall(b"800\r\n" + b" " * 2048 + b"\r\n")
        connection.sendall(b"801\r\n" + b" " * 2049 + b"\r\n")
        problem(read_answer(connection), 413, "body-too-large")
    assert ticks.asked == []


@pytest.mark.anyio
async def test_a_body_that_drips_is_given_up() -> None:
    async def drip() -> Message:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b" ", "more_body": True}

    with pytest.raises(Problem) as raised:
        await read_body({"type": "http", "headers": []}, drip, patience_seconds=0.05)
    assert raised.value.type is BODY_LATE


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "identity, gzip"])
def test_a_compressed_body_is_refused(address: tuple[str, int], ticks: Ticks, encoding: str) -> None:
    problem(post(address, b"{}", f"Content-Encoding: {encoding}"), 415, "body-encoded")
    assert ticks.asked == []


def test_a_second_content_encoding_hides_nothing(address: tuple[str, int], ticks: Ticks) -> None:
    problem(post(address, b"{}", "Content-Encoding: gzip", "Content-Encoding: identity"), 415, "body-encoded")


@pytest.mark.parametrize("body", [b"null", b"[]", b"not json", b"\xff\xfe{\x00}\x00", b"[" * 4096, b'{"limit": NaN}'])
def test_what_is_no_json_object_is_refused(address: tuple[str, int], ticks: Ticks, body: bytes) -> None:
    problem(post(address, body), 400, "not-json")
    assert ticks.asked == []


@pytest.mark.parametrize("body", [b'{"limit": 1e999}', b'{"limit": -1}', b'{"limits": 1}', b'{"depth": 6}'])
def test_a_field_unknown_or_out_of_range_is_refused(address: tuple[str, int], ticks: Ticks, body: bytes) -> None:
    problem(post(address, body), 422, "out-of-range")
    assert ticks.asked == []


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TICK"])
def test_only_post_ticks(address: tuple[str, int], ticks: Ticks, method: str) -> None:
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(head(method))
        received = connection.recv(65536)
    assert received.startswith(b"HTTP/1.1 405")
    assert b"\r\nallow: POST\r\n" in received
    assert ticks.asked == []


def test_get_ticks_where_it_was_allowed_and_head_does_not(ticks: Ticks) -> None:
    with served(app_of(ticks, Settings(cron_secrets=(TOKEN,), allow_get=True))) as address:
        answer = exchange(address, head("GET", "/cron/tick", "User-Agent: vercel-cron/1.0"))
        assert (answer.status, answer.json["trigger"]) == (200, "vercel-cron")
        refusal = exchange(address, head("PUT"))
        assert (refusal.status, refusal.headers["allow"]) == (405, "GET, POST")
    assert len(ticks.asked) == 1


@pytest.mark.parametrize("path", ["/", "/cron/tick/", "//cron/tick", "/cron", "/cron/tick/x", "/CRON/TICK"])
def test_no_other_path_ticks_and_none_is_redirected(address: tuple[str, int], ticks: Ticks, path: str) -> None:
    problem(exchange(address, head("POST", path)), 404, "not-found")
    assert ticks.asked == []


def test_health_needs_no_token_and_no_database(ticks: Ticks) -> None:
    ticks.fails_with = Unavailable("the database is out of reach")
    with served(app_of(ticks)) as address:
        assert exchange(address, head("GET", "/healthz", token=None)).json == {"status": "ok"}
        assert exchange(address, head("POST", "/healthz", token=None)).headers["allow"] == "GET, HEAD"
        detail = problem(exchange(address, head("GET", "/readyz")), 503, "unavailable")
        assert detail == "the database is out of reach"


def test_a_database_out_of_reach_is_a_503_that_says_when_to_call_again(address: tuple[str, int], ticks: Ticks) -> None:
    ticks.fails_with = Unavailable("the database is waking", retry_after_seconds=37)
    answer = exchange(address, head())
    assert "nothing ran and nothing was lost" in problem(answer, 503, "unavailable")
    assert answer.headers["retry-after"] == "37"


def test_a_database_lost_after_a_claim_is_no_503_that_says_nothing_ran(address: tuple[str, int], ticks: Ticks) -> None:
    lost = Unavailable("the database is out of reach")
    lost.ran = True
    ticks.fails_with = lost
    detail = problem(exchange(address, head()), 503, "unavailable")
    assert detail == "the database is out of reach; the jobs that ran are settled or retried: call again"


def test_a_fault_of_our_own_is_a_500_without_its_text(
    address: tuple[str, int], ticks: Ticks, caplog: pytest.LogCaptureFixture
) -> None:
    ticks.fails_with = RuntimeError("password hunter2 of the database")
    answer = exchange(address, head())
    problem(answer, 500, "fault")
    assert b"hunter2" not in answer.body
    assert "the tick failed" in caplog.text


def test_the_trigger_that_the_body_names_comes_before_the_user_agent(address: tuple[str, int], ticks: Ticks) -> None:
    post(address, b'{"trigger": "my-cron"}', "User-Agent: curl/8.5.0", "X-Request-Id: abc")
    post(address, b"", "User-Agent: curl/8.5.0")
    assert [caller.trigger for _, caller in ticks.asked] == ["my-cron", "curl"]
    assert ticks.asked[0][1].host_request_id == "abc"


def test_a_connection_serves_several_ticks(address: tuple[str, int], ticks: Ticks) -> None:
    with socket.create_connection(address, timeout=20) as connection:
        for _ in range(3):
            connection.sendall(head())
            assert read_answer(connection).status == 200
    assert len(ticks.asked) == 3


def test_every_problem_has_its_section_in_the_runbook() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "docs" / "runbook.md").read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert {type_.anchor for type_ in TYPES} <= anchors


def test_the_answer_is_json_that_any_caller_reads(address: tuple[str, int]) -> None:
    answer = exchange(address, head())
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.body)["stop_reason"] == "empty"
