"""What an attempt says of whom it called, and by which name a breaker knows him."""

import socket
import ssl
from typing import Any

import httpx
import psycopg
import pytest

from crontick.jobs.kinds.send_email import SendEmail, send_email
from crontick.jobs.kinds.smtp import Said, Step
from crontick.jobs.outcomes import found
from crontick.jobs.signals import Cancel, Permanent, Retry, Snooze
from crontick.jobs.target import told_by
from tests.kinds.conftest import Deployed
from tests.worlds.smtp_sink import SmtpSink

REQUEST = httpx.Request("POST", "https://crm.example")


def http_error(status: int) -> httpx.HTTPStatusError:
    return httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(status))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        *((status, "ok") for status in (200, 204, 301, 400, 401, 403, 404, 409, 410, 422, 499)),
        *((status, "failed") for status in (408, 425, 429, 500, 502, 503, 504, 599, 999)),
    ],
)
def test_an_answer_says_it_by_its_status(status: int, said: str) -> None:
    assert found(status) == said
    assert told_by(http_error(status)) == said
    assert told_by(Retry("it said no", status_code=status)) == said


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(), "failed"),
        (TimeoutError(), "failed"),
        (socket.gaierror(), "failed"),
        (ssl.SSLError(), "failed"),
        (httpx.ReadTimeout("late", request=REQUEST), "failed"),
        (httpx.RemoteProtocolError("broke off", request=REQUEST), "failed"),
        (httpx.InvalidURL("no URL"), "nothing"),
        (FileNotFoundError(), "nothing"),
        (KeyError("a fault"), "nothing"),
        (psycopg.OperationalError("our own database"), "nothing"),
        (Retry("no setting"), "nothing"),
        (Permanent("no"), "nothing"),
        (Snooze(5), "nothing"),
        (Cancel("not wanted"), "nothing"),
    ],
)
def test_an_error_says_it_by_its_class(error: Exception, said: str) -> None:
    assert told_by(error) == said


@pytest.mark.parametrize(
    ("code", "step", "words", "of_the_server"),
    [
        (421, "data", "closing", True),
        (554, "greeting", "go away", True),
        (535, "login", "bad credentials", True),
        (530, "sender", "authentication required", True),
        (454, "data", "Throttling failure: maximum sending rate exceeded", True),
        (450, "recipient", "greylisted", False),
        (451, "data", "later", False),
        (550, "recipient", "no such user", False),
        (554, "data", "spam", False),
    ],
)
def test_a_mail_server_speaks_of_itself_or_of_a_mail(code: int, step: Step, words: str, *, of_the_server: bool) -> None:
    assert Said(code, step, words).of_the_server is of_the_server


async def opened(deployed: Deployed) -> list[tuple[Any, ...]]:
    cursor = await deployed.conn.execute("select target, state, failures from crontick.breakers")
    return await cursor.fetchall()


async def test_a_mail_provider_out_of_reach_is_left_alone(
    deploy: Any, smtp_sink: SmtpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    deployed: Deployed = deploy('[email]\nurl_env = "SMTP_URL"\nfrom = "hi@acme.example"\n')
    hi = SendEmail(to="ann@example.com", subject="Hi", text="Hello")
    smtp_sink.replies["RCPT"].extend(["550 no such user"] * 6)
    for _ in range(6):
        await deployed.enqueue(send_email, hi)
    assert (await deployed.tick()).dead == 6
    assert await opened(deployed) == []
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        monkeypatch.setenv("SMTP_URL", f"smtp://127.0.0.1:{nobody.getsockname()[1]}")
    for _ in range(5):
        await deployed.enqueue(send_email, hi)
    assert (await deployed.tick()).failed == 5
    assert await opened(deployed) == [("kind:send_email", "open", 5)]


@pytest.mark.parametrize(
    ("kind", "payload", "target"),
    [
        ("deliver_webhook", '{"endpoint": "crm", "body": 1}', "endpoint:crm"),
        ("deliver_webhook", '{"url": "https://a.example/x?k=1#f"}', "https://a.example/x"),
        ("deliver_webhook", '{"url": "https://me:secret@a.example:8443/x"}', "https://a.example:8443/x"),
        ("deliver_webhook", '{"url": "https://a.example/@x"}', "https://a.example/@x"),
        ("deliver_webhook", '{"url": {"$sealed": "k1:…"}}', None),
        ("deliver_webhook", '{"url": 7}', None),
        ("deliver_webhook", "[]", None),
        ("deliver_webhook", "null", None),
        ("send_email", "{}", "kind:send_email"),
    ],
)
async def test_a_target_is_an_endpoint_a_url_or_a_kind(
    conn: psycopg.AsyncConnection[Any], kind: str, payload: str, target: str | None
) -> None:
    cursor = await conn.execute("select crontick.target_of(%s, %s)", (kind, payload))
    assert await cursor.fetchone() == (target,)
