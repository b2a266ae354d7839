"""Who comes in, by what, and for how long (P38); none of it needs a database."""

import time
from collections.abc import Iterator

import msgspec
import pytest
from starlette.datastructures import Headers

from crontick.handler.dashboard.attempts import OF_ALL, OF_ONE_ADDRESS, WITHIN_SECONDS, Attempts
from crontick.handler.dashboard.session import LASTS_SECONDS, Sessions
from tests.dashboard.asking import Asker
from tests.door.deployed import NOWHERE
from tests.door.serving import ADMIN, SETTINGS, TOKEN, Ticks, app_of, served

NEW = "c0ffee5e0f7d2b43968e1f0c7a5d3b29"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


@pytest.fixture
def address() -> Iterator[tuple[str, int]]:
    """A deployment whose database is out of reach: whoever is turned away does not notice."""
    settings = msgspec.structs.replace(SETTINGS, database_url=NOWHERE, admin_secrets=(ADMIN, NEW))
    with served(app_of(Ticks(), settings)) as listening:
        yield listening


@pytest.fixture
def asker(address: tuple[str, int]) -> Asker:
    return Asker(address)


def test_the_secret_gives_a_cookie_for_eight_hours_that_no_script_and_no_other_site_gets(asker: Asker) -> None:
    answer = asker.log_in(next_="jobs/12")
    assert (answer.status, answer.headers["location"]) == (303, "./jobs/12")
    attributes = answer.headers["set-cookie"].split("; ")[1:]
    assert attributes == ["Max-Age=28800", "Secure", "HttpOnly", "SameSite=Strict"]
    assert asker.get("/dashboard/jobs/12").status == 503  # let in: now it is the database that is away


@pytest.mark.parametrize("path", ["", "/jobs", "/jobs/1", "/dead?kind=mail", "/audit"])
def test_who_is_not_logged_in_is_asked_who_is_there_without_asking_the_database(asker: Asker, path: str) -> None:
    answer = asker.get(f"/dashboard{path}")
    assert answer.status == 303
    assert "login?next=" in answer.headers["location"]


@pytest.mark.parametrize("secret", ["", "a guess", TOKEN, ADMIN[:-1], f"{ADMIN}x", "ü" * 32])
def test_no_other_secret_gives_one(asker: Asker, secret: str) -> None:
    answer = asker.log_in(secret)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    assert b"not CRONTICK_ADMIN_SECRET" in answer.body
    assert secret == "" or secret.encode() not in answer.body


@pytest.mark.parametrize("by", ["", "   ", "x" * 129, "ann\x07"])
def test_who_acts_has_to_say_who_they_are(asker: Asker, by: str) -> None:
    assert asker.log_in(by=by).status == 422


def test_a_login_gives_a_session_of_its_own(asker: Asker) -> None:
    """Else whoever planted a cookie in the browser would be logged in with it."""
    asker.get("/dashboard/login")
    before = asker.cookie
    asker.log_in()
    assert asker.cookie != before
    asker.cookie = before
    assert asker.get("/dashboard/jobs").status == 303


def test_the_cookie_opens_no_route_of_the_api(asker: Asker) -> None:
    asker.log_in()
    assert asker.get("/api/breakers").status == 401


def test_a_form_without_the_token_or_of_another_session_is_refused(address: tuple[str, int], asker: Asker) -> None:
    asker.log_in()
    other = Asker(address)
    other.log_in()
    other.get("/dashboard/login")
    for token in ("", "0" * 64, other.token):
        answer = asker.post("/dashboard/pauses/pause", {"what": "all", "token": token})
        assert answer.status == 403
        assert b"was not sent by this page" in answer.body


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 503),  # let in
        (
            {"origin": "null", "sec_fetch_site": "same-origin"},
            503,
        ),  # as Referrer-Policy: no-referrer makes browsers say
        ({"origin": "", "sec_fetch_site": "same-origin"}, 503),
        ({"origin": "null"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "null", "sec_fetch_site": "cross-site"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "https://evil.example", "sec_fetch_site": "same-origin"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"content_type": "text/plain"}, 400),
        ({"content_type": "application/json"}, 400),
    ],
)
def test_only_a_page_of_the_same_origin_sends_forms(asker: Asker, headers: dict[str, str], status: int) -> None:
    asker.log_in()
    asker.get("/dashboard/login")  # its form has the session's token
    assert asker.post("/dashboard/pauses/pause", {"what": "all"}, **headers).status == status


def test_a_session_ends_after_eight_hours() -> None:
    at = [time.time()]
    sessions = Sessions((ADMIN,), clock=lambda: at[0])
    cookie = sessions.login(ADMIN, "ann")
    assert cookie
    headers = _sent(cookie)
    at[0] += LASTS_SECONDS - 2
    found = sessions.read(headers)
    assert found
    assert found.by == "ann"
    at[0] += 2
    assert sessions.read(headers) is None


def test_a_session_ends_when_the_secret_that_opened_it_is_taken_out() -> None:
    cookie = Sessions((NEW, ADMIN)).login(ADMIN, "ann")
    assert cookie
    assert Sessions((NEW, ADMIN)).read(_sent(cookie))
    assert Sessions((NEW,)).read(_sent(cookie)) is None


def test_nobody_without_the_secret_writes_a_cookie() -> None:
    sessions = Sessions((ADMIN,))
    cookie = sessions.login(ADMIN, "ann") or ""
    value = cookie.partition("=")[2].partition(";")[0]
    id_, until, by, signature = value.split(".")
    for forged in (
        f"{id_}.{int(until) + 1}.{by}.{signature}",
        f"{id_}.{until}.Ym8=.{signature}",
        f"{id_}.{until}.{by}.{signature[:-1]}{'1' if signature[-1] == '0' else '0'}",
        f"{id_}.{until}.{by}.",
        f"{id_}.{until}.{by}",
        "",
        "...",
        f"{id_}.x.{by}.{signature}",
        "ü" * 9,
        value + "x" * 1000,
    ):
        assert sessions.read(_sent(cookie.replace(value, forged))) is None, forged


def test_after_five_wrong_secrets_in_a_minute_no_other_is_compared(asker: Asker) -> None:
    for _ in range(OF_ONE_ADDRESS):
        assert asker.log_in("wrong").status == 403
    answer = asker.log_in()
    assert answer.status == 429
    assert 1 <= int(answer.headers["retry-after"]) <= WITHIN_SECONDS


def test_attempts_are_counted_by_address_and_all_together_for_a_minute() -> None:
    at = [1000.0]
    attempts = Attempts(clock=lambda: at[0])
    for _ in range(OF_ONE_ADDRESS):
        attempts.failed("192.0.2.1")
    assert attempts.wait_seconds("192.0.2.1") == WITHIN_SECONDS
    assert attempts.wait_seconds("192.0.2.2") == 0
    at[0] += WITHIN_SECONDS
    assert attempts.wait_seconds("192.0.2.1") == 0
    for nth in range(OF_ALL):
        attempts.failed(f"192.0.2.{nth}")
    assert attempts.wait_seconds("198.51.100.1") == WITHIN_SECONDS


@pytest.mark.parametrize(
    "next_",
    [
        "https://evil.example",
        "//evil.example",
        "../api/pause",
        "jobs\r\nx: y",
        "logout",
        "javascript:alert(1)",
        "/jobs",
    ],
)
def test_a_login_leads_to_a_page_of_ours_alone(asker: Asker, next_: str) -> None:
    assert asker.log_in(next_=next_).headers["location"] == "./../dashboard"


@pytest.mark.parametrize("path", ["", "/login", "/nowhere", "/static/page.css", "/static/../door.py", "/jobs/"])
def test_every_answer_forbids_what_the_page_does_not_need(asker: Asker, path: str) -> None:
    answer = asker.get(f"/dashboard{path}")
    assert answer.headers["content-security-policy"] == POLICY
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == ("max-age=31536000" if path == "/static/page.css" else "no-store")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("PUT", "/dashboard/jobs", 405),
        ("POST", "/dashboard/jobs", 405),
        ("GET", "/dashboard/pauses/pause", 405),
        ("DELETE", "/dashboard/login", 405),
        ("GET", "/dashboard/nowhere", 404),
        ("GET", "/dashboard/", 404),
        ("GET", "/dashboard/jobs/x", 404),
        ("GET", "/dashboard/jobs/99999999999999999999", 404),
        ("GET", "/dashboard/static/door.py", 404),
    ],
)
def test_what_is_not_there_is_told_on_a_page(asker: Asker, method: str, path: str, status: int) -> None:
    answer = asker._ask(method, path, b"", {})
    assert answer.status == status
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_a_link_from_another_site_is_followed_with_the_cookie_that_it_did_not_bring(asker: Asker) -> None:
    answer = asker.get("/dashboard/jobs?status=dead", sec_fetch_site="cross-site")
    assert answer.status == 200
    assert b'content="0; url=./jobs?status=dead&amp;arrived=1"' in answer.body
    again = asker.get("/dashboard/jobs?status=dead&arrived=1", sec_fetch_site="cross-site")
    assert again.status == 303


def _sent(cookie: str) -> Headers:
    return Headers({"cookie": f"other=1; {cookie.partition(';')[0]}"})
