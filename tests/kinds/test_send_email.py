"""A mail is handed in once, and what the server says decides what becomes of the job."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crontick.jobs.kinds import smtp
from crontick.jobs.kinds.addresses import Address
from crontick.jobs.kinds.send_email import SendEmail, send_email
from crontick.jobs.request import TickRequest
from tests.kinds.conftest import Deployed
from tests.kinds.smtp_script import SILENCE, scripted
from tests.worlds.smtp_sink import CUT, SmtpSink, smtp_sink

Deploy = Callable[[str], Deployed]
ACCEPTED = ("220 here", "250 sink", "250 OK", "250 OK")
HI = SendEmail(to="ann@example.com", subject="Hi", text="Hello")


@pytest.fixture
def sink(monkeypatch: pytest.MonkeyPatch) -> Iterator[SmtpSink]:
    with smtp_sink() as made:
        monkeypatch.setenv("SMTP_URL", made.url)
        yield made


@pytest.fixture
def deployed(deploy: Deploy) -> Deployed:
    return deploy('[email]\nurl_env = "SMTP_URL"\nfrom = "Acme <hi@acme.example>"\n')


async def marker(deployed: Deployed) -> tuple[Any, ...] | None:
    """The only marker: its key, state, provider, message id and whether it has a hash."""
    cursor = await deployed.conn.execute(
        "select key, state, provider, provider_message_id, content_hash is not null from crontick.markers"
    )
    rows = await cursor.fetchall()
    assert len(rows) <= 1
    return rows[0] if rows else None


async def test_a_mail_arrives_and_its_marker_says_so(deployed: Deployed, sink: SmtpSink) -> None:
    job = await deployed.enqueue(send_email, HI)
    await deployed.tick()
    [mail] = sink.mails
    assert (await deployed.job(job))["status"] == "succeeded"
    assert (mail.sender, mail.recipients) == ("hi@acme.example", ("ann@example.com",))
    assert mail.message["From"] == "Acme <hi@acme.example>"
    assert mail.message["Subject"] == "Hi"
    assert mail.message["Date"].datetime.tzinfo is not None
    assert mail.message["Message-ID"].endswith("@acme.example>")
    assert mail.message.get_content().rstrip("\r\n") == "Hello"
    assert await marker(deployed) == (f"job:{job}", "sent", "smtp", mail.message["Message-ID"], True)


async def test_two_jobs_with_one_dedupe_key_are_one_mail(deployed: Deployed, sink: SmtpSink) -> None:
    payload = {"to": "ann@example.com", "subject": "Hi", "text": "x", "dedupe_key": "welcome:7"}
    jobs = [await deployed.enqueue(send_email, payload) for _ in range(2)]
    await deployed.tick()
    await deployed.later(timedelta(minutes=5))
    await deployed.tick()
    assert len(sink.mails) == 1
    assert [(await deployed.job(job))["status"] for job in jobs] == ["succeeded", "succeeded"]


async def test_every_attempt_has_the_same_message_id_and_another_job_another(
    deployed: Deployed, sink: SmtpSink
) -> None:
    sink.replies["DATA"].append("451 4.3.0 later")
    await deployed.enqueue(send_email, HI)
    await deployed.tick()
    assert await marker(deployed) is None
    await deployed.enqueue(send_email, HI)
    await deployed.later(timedelta(seconds=70))
    await deployed.tick()
    ids = [mail.message["Message-ID"] for mail in sink.seen]
    assert len(ids) == 3
    assert sorted(map(ids.count, set(ids))) == [1, 2]


async def test_one_copy_for_an_address_that_is_named_twice_and_none_shown_of_bcc(
    deployed: Deployed, sink: SmtpSink
) -> None:
    mail = SendEmail(
        to=("a@example.com", "a@example.com"), cc=("b@example.com",), bcc=("c@example.com",), subject="", text="x"
    )
    await deployed.enqueue(send_email, mail)
    await deployed.tick()
    [arrived] = sink.mails
    assert arrived.recipients == ("a@example.com", "b@example.com", "c@example.com")
    assert b"c@example.com" not in arrived.raw


@pytest.mark.parametrize(
    ("verb", "reply", "status"),
    [
        ("DATA", "451 4.3.0", "failed"),
        ("MAIL", "454 4.7.0 TLS not available", "failed"),
        ("RCPT", "450 4.2.0 greylisted", "failed"),
        ("RCPT", "552 too many", "failed"),
        ("MAIL", "530 5.7.0 authentication required", "failed"),
        ("DATA", "500", "dead"),
        ("RCPT", "501 5.1.3 bad address", "dead"),
        ("RCPT", "550 5.1.1 user unknown", "dead"),
        ("DATA", "550 5.7.1 policy", "dead"),
        ("RCPT", "551 user not local", "dead"),
        ("DATA", "552 5.3.4 message too big", "dead"),
        ("RCPT", "553 5.1.2", "dead"),
        ("DATA", "554 5.7.1 spam", "dead"),
        ("MAIL", "555 no such parameter", "dead"),
        ("RCPT", "550 4.2.1 classes disagree", "dead"),
        ("RCPT", "550-first\r\n550 second", "dead"),
    ],
)
async def test_the_servers_first_digit_decides_and_nothing_is_in_doubt(
    deployed: Deployed, sink: SmtpSink, verb: str, reply: str, status: str
) -> None:
    sink.replies[verb].append(reply)
    job = await deployed.enqueue(send_email, HI)
    summary = await deployed.tick()
    found, [error] = await deployed.job(job), summary.as_dict()["errors"]
    assert (found["status"], found["last_status_code"]) == (status, int(reply[:3]))
    assert error["error"] == f"{reply[:3]} from 127.0.0.1"
    assert reply[4:].split("\r\n", maxsplit=1)[0].strip() in found["last_error"]
    assert sink.mails == []
    assert await marker(deployed) is None


async def test_a_throttled_sender_waits_ten_minutes(deployed: Deployed, sink: SmtpSink) -> None:
    sink.replies["DATA"].append("454 Throttling failure: Daily message quota exceeded")
    job = await deployed.enqueue(send_email, HI)
    await deployed.tick()
    assert await deployed.seconds_until(job) > 590


async def test_no_server_is_an_ordinary_failure(deployed: Deployed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SMTP_URL", "smtp://ann:hunter2pw@127.0.0.1:1")
    job = await deployed.enqueue(send_email, HI)
    await deployed.tick()
    found = await deployed.job(job)
    assert (found["status"], found["last_error"]) == ("failed", "Retry: no connection to 127.0.0.1")
    assert await marker(deployed) is None


async def test_a_connection_that_is_cut_off_after_the_content_is_in_doubt(deployed: Deployed, sink: SmtpSink) -> None:
    sink.replies["DATA"].append(CUT)
    job = await deployed.enqueue(send_email, HI)
    await deployed.tick()
    found, kept = await deployed.job(job), await marker(deployed)
    assert found["status"] == "dead"
    assert found["last_error"].startswith("in doubt: nobody knows whether")
    assert kept is not None
    assert kept[1:3] == ("in_doubt", "smtp")
    await deployed.later(timedelta(days=1))
    await deployed.tick()
    assert len(sink.seen) == 1


@pytest.mark.parametrize("verb", ["MAIL", "RCPT"])
async def test_one_that_is_cut_off_before_it_is_not(deployed: Deployed, sink: SmtpSink, verb: str) -> None:
    sink.replies[verb].append(CUT)
    job = await deployed.enqueue(send_email, HI)
    await deployed.tick()
    assert (await deployed.job(job))["status"] == "failed"
    assert await marker(deployed) is None


@pytest.mark.parametrize(
    ("replies", "status", "kept"),
    [(("220 here", SILENCE), "queued", None), ((*ACCEPTED, "354 go on", SILENCE), "dead", "in_doubt")],
)
async def test_when_the_ticks_time_ends_only_a_content_that_went_off_is_in_doubt(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch, replies: tuple[str, ...], status: str, kept: str | None
) -> None:
    deployed = deploy('[email]\nurl_env = "SMTP_URL"\nfrom = "hi@acme.example"\n[kinds.send_email]\nneeds = 1\n')
    async with scripted(*replies) as server:
        monkeypatch.setenv("SMTP_URL", f"smtp://127.0.0.1:{server.port}")
        job = await deployed.enqueue(send_email, HI)
        await deployed.tick(TickRequest(budget_seconds=3))
    found, marked = await deployed.job(job), await marker(deployed)
    assert (found["status"], marked and marked[1]) == (status, kept)


async def test_whoever_is_greylisted_beside_others_gets_a_mail_of_his_own_later(
    deployed: Deployed, sink: SmtpSink
) -> None:
    sink.replies["RCPT"].extend(["250 OK", "450 4.2.0 greylisted", "550 5.1.1 unknown"])
    job = await deployed.enqueue(
        send_email, SendEmail(to=("a@example.com", "b@example.com"), cc=("c@example.com",), subject="Hi", text="x")
    )
    await deployed.tick()
    assert (await deployed.job(job))["result"] == {
        "refused": {"b@example.com": 450, "c@example.com": 550}, "again": ["b@example.com"]
    }  # fmt: skip
    await deployed.later(timedelta(minutes=2))
    await deployed.tick()
    assert [mail.recipients for mail in sink.mails] == [("a@example.com",), ("b@example.com",)]


async def test_what_the_deployment_lacks_may_be_there_next_time(
    deploy: Deploy, deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url, said in ((None, "SMTP_URL is not set"), ("smpt://x", "SMTP_URL is no mail server's URL")):
        monkeypatch.delenv("SMTP_URL", raising=False)
        if url:
            monkeypatch.setenv("SMTP_URL", url)
        job = await deployed.enqueue(send_email, HI)
        await deployed.tick()
        assert said in (await deployed.job(job))["last_error"]
    bare = deploy("")
    job = await bare.enqueue(send_email, HI)
    await bare.tick()
    found = await bare.job(job)
    assert found["status"] == "failed"
    assert found["last_error"].startswith("Retry: crontick.toml has no [email]")


async def test_over_the_smtp_of_resend_its_key_is_a_header(
    deployed: Deployed, sink: SmtpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def here(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    monkeypatch.setattr(smtp, "resolve", here)
    monkeypatch.setenv("SMTP_URL", f"smtp://smtp.resend.com:{sink.port}")
    sink.replies["DATA"].append("451 later")
    await deployed.enqueue(send_email, HI)
    await deployed.tick()
    await deployed.later(timedelta(minutes=2))
    await deployed.tick()
    assert len({mail.message["Resend-Idempotency-Key"] for mail in sink.seen}) == 1
    assert len(sink.seen[0].message["Resend-Idempotency-Key"]) == 40


async def test_a_template_is_a_file_of_the_deployment(deploy: Deploy, sink: SmtpSink, tmp_path: Path) -> None:
    folder = tmp_path / "mails"
    folder.mkdir()
    (folder / "hello.subject.txt").write_text("Hi {{ name }}\n")
    (folder / "hello.txt").write_text("Dear {{ name }}")
    (folder / "hello.html").write_text("<p>Dear {{ name }}</p>")
    deployed = deploy(f'[email]\nurl_env = "SMTP_URL"\nfrom = "hi@acme.example"\ntemplates = "{folder}"\n')
    job = await deployed.enqueue(
        send_email, SendEmail(to=Address("a@example.com", "Doe, Jane"), template="hello", data={"name": "<b>{{ 7*7 }}"})
    )
    await deployed.tick()
    assert (await deployed.job(job))["status"] == "succeeded"
    [mail] = sink.mails
    [attempt] = await deployed.attempts(job)
    cursor = await deployed.conn.execute("select details::text, content_hash from crontick.markers")
    [(details, content_hash)] = await cursor.fetchall()
    kept = json.loads(details)
    assert attempt["details"] == {**kept, "content_hash": content_hash}
    assert (kept["template"], len(kept["version"]), kept["answer"]) == ("hello", 16, "2.0.0 OK")
    text, html = (part.get_content().strip() for part in mail.message.iter_parts())
    assert mail.message["Subject"] == "Hi <b>{{ 7*7 }}"
    assert (text, html) == ("Dear <b>{{ 7*7 }}", "<p>Dear &lt;b&gt;{{ 7*7 }}</p>")


@pytest.mark.parametrize("part", ["subject", "to", "cc", "bcc", "reply_to", "from", "headers"])
async def test_a_line_end_in_any_header_is_refused_for_good(deployed: Deployed, sink: SmtpSink, part: str) -> None:
    evil = "ann@example.com\nBcc: eve@example.net"
    value: Any = {"List-Id": evil} if part == "headers" else [evil] if part in ("cc", "bcc") else evil
    job = await deployed.enqueue(send_email, {"to": "a@example.com", "subject": "x", "text": "x", part: value})
    summary = await deployed.tick()
    assert (await deployed.job(job))["status"] == "dead"
    assert part in summary.as_dict()["errors"][0]["error"]
    assert "eve" not in summary.as_dict()["errors"][0]["error"]
    assert sink.seen == []


async def test_a_sender_that_the_configuration_does_not_name_is_refused(deployed: Deployed, sink: SmtpSink) -> None:
    job = await deployed.enqueue(
        send_email, SendEmail(to="a@example.com", sender="boss@bank.example", subject="", text="")
    )
    await deployed.tick()
    assert (await deployed.job(job))["status"] == "dead"
    assert sink.seen == []
