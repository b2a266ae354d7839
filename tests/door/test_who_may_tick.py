"""A request is judged by its headers alone; without a valid token nothing runs and nothing is read."""

import hashlib
import socket

import pytest

from crontick.jobs.settings import Settings
from tests.door.serving import (
    ADMIN,
    OLD_TOKEN,
    TOKEN,
    Answer,
    Ticks,
    app_of,
    exchange,
    head,
    read_answer,
    served,
)


def refused(answer: Answer, ticks: Ticks) -> str:
    """What a 401 says, after checking that it is a proper one."""
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/problem+json"
    assert ticks.asked == []
    assert TOKEN not in answer.body.decode()
    return str(answer.json["detail"])


@pytest.mark.parametrize("token", [TOKEN, OLD_TOKEN])
def test_each_of_several_tokens_opens_the_door(address: tuple[str, int], ticks: Ticks, token: str) -> None:
    assert exchange(address, head(token=token)).status == 200
    assert ticks.asked[0][1].token_fingerprint == hashlib.sha256(token.encode()).hexdigest()[:8]


def test_the_scheme_is_read_without_regard_to_case(address: tuple[str, int]) -> None:
    assert exchange(address, head("POST", "/cron/tick", f"Authorization: bEaReR   {TOKEN}", token=None)).status == 200


@pytest.mark.parametrize(
    "authorization",
    [
        "Bearer",
        "Bearer ",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer {TOKEN},{OLD_TOKEN}",
        f"Bearer {TOKEN} {TOKEN}",
        f"Bearer {TOKEN.upper()}",
        f"Bearer {ADMIN}",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}\xe9",
        "Bearer \xff\xfe",
        "Bearer " + "x" * 8000,
        "",
    ],
)
def test_what_is_not_the_token_is_refused(address: tuple[str, int], ticks: Ticks, authorization: str) -> None:
    refused(exchange(address, head("POST", "/cron/tick", f"Authorization: {authorization}", token=None)), ticks)


@pytest.mark.parametrize("word", ["undefined", "null", "None"])
def test_a_caller_whose_secret_is_unset_is_told_so(address: tuple[str, int], ticks: Ticks, word: str) -> None:
    assert "its own copy of CRON_SECRET is not set" in refused(exchange(address, head(token=word)), ticks)


def test_no_authorization_is_refused(address: tuple[str, int], ticks: Ticks) -> None:
    assert "has no Authorization header" in refused(exchange(address, head(token=None)), ticks)


def test_an_empty_token_is_told_from_a_wrong_one(address: tuple[str, int], ticks: Ticks) -> None:
    empty = head("POST", "/cron/tick", "Authorization: Bearer ", token=None)
    assert "`Bearer <CRON_SECRET>`: is the caller's copy set?" in refused(exchange(address, empty), ticks)


def test_two_authorizations_are_refused_though_both_are_right(address: tuple[str, int], ticks: Ticks) -> None:
    twice = head("POST", "/cron/tick", f"Authorization: Bearer {TOKEN}")
    assert "more than one Authorization header" in refused(exchange(address, twice), ticks)


@pytest.mark.parametrize(
    "path",
    [
        f"/cron/tick?token={TOKEN}",
        "/cron/tick?token=wrong",
        "/cron/tick?SECRET=",
        f"/cron/tick?x={TOKEN}",
        "/cron/tick?x=" + "".join(f"%{ord(character):02x}" for character in TOKEN),
        f"/api/cron/tick?a=b&key={OLD_TOKEN}",
    ],
)
def test_a_token_in_the_url_is_leaked_even_beside_a_right_header(
    address: tuple[str, int], ticks: Ticks, path: str
) -> None:
    assert "must be considered leaked" in refused(exchange(address, head("POST", path)), ticks)


def test_another_query_is_no_ones_business(address: tuple[str, int]) -> None:
    assert exchange(address, head("POST", "/cron/tick?from=github&x=%zz")).status == 200


def test_a_refusal_does_not_wait_for_the_body(address: tuple[str, int], ticks: Ticks) -> None:
    with socket.create_connection(address, timeout=20) as connection:
        connection.sendall(head("POST", "/cron/tick", "Content-Length: 4000", token="wrong" * 4))
        answer = read_answer(connection)
        refused(answer, ticks)
        assert answer.headers["connection"] == "close"
        assert connection.recv(1) == b""  # closed: the server waits for nothing more


def test_a_door_without_a_secret_does_not_exist(ticks: Ticks) -> None:
    with served(app_of(ticks, Settings())) as address:
        assert exchange(address, head()).status == 404
        assert exchange(address, head("GET", "/readyz")).status == 404
        assert exchange(address, head("GET", "/healthz", token=None)).status == 200


@pytest.mark.parametrize(("token", "status"), [(TOKEN, 200), (ADMIN, 200), ("wrong" * 8, 401)])
def test_readiness_is_told_to_callers_and_admins(address: tuple[str, int], token: str, status: int) -> None:
    assert exchange(address, head("GET", "/readyz", token=token)).status == status
