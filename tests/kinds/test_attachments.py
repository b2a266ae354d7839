"""An attachment is a file of the deployment or what a URL answers, within bounds, and arrives as it was."""

import asyncio
import email
import email.policy
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from crontick.jobs.kinds import attachments
from crontick.jobs.kinds.addresses import Address
from crontick.jobs.kinds.attachment import Attachment
from crontick.jobs.kinds.message import Attached, Content, compose
from crontick.jobs.kinds.send_email import SendEmail, send_email
from tests.kinds.conftest import Deployed
from tests.kinds.receiver import receiver, status
from tests.worlds.resend_stub import API_KEY, resend_stub
from tests.worlds.smtp_sink import SmtpSink

Deploy = Callable[[str], Deployed]
PDF = bytes(range(256)) * 300
CONFIG = '[email]\nurl_env = "SMTP_URL"\nfrom = "hi@acme.example"\nattachments = "{folder}"\n'
HERE = '[http]\nallow = ["127.0.0.1"]\n'


@pytest.fixture
def deployed(deploy: Deploy, tmp_path: Path, smtp_sink: SmtpSink, monkeypatch: pytest.MonkeyPatch) -> Deployed:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    (tmp_path / "files").mkdir()
    return deploy(CONFIG.format(folder=tmp_path / "files") + HERE)


def with_(*attached: dict[str, Any]) -> SendEmail:
    wanted = msgspec.convert(attached, tuple[Attachment, ...])
    return SendEmail(to="ann@example.com", subject="Hi", text="Hello", html="<p>Hello</p>", attachments=wanted)


async def test_a_file_of_the_deployment_arrives_as_it_is(
    deployed: Deployed, tmp_path: Path, smtp_sink: SmtpSink
) -> None:
    (tmp_path / "files" / "terms.pdf").write_bytes(PDF)
    await deployed.enqueue(send_email, with_({"file": "terms.pdf"}, {"file": "terms.pdf", "name": "résumé 2026.pdf"}))
    await deployed.tick()
    [mail] = smtp_sink.mails
    found = list(mail.message.iter_attachments())
    assert [one.get_filename() for one in found] == ["terms.pdf", "résumé 2026.pdf"]
    assert [(one.get_content_type(), one.get_content()) for one in found] == [("application/pdf", PDF)] * 2
    body = mail.message.get_body(("plain",))
    assert body is not None
    assert body.get_content().strip() == "Hello"


async def test_what_a_url_answers_is_attached(deployed: Deployed, smtp_sink: SmtpSink) -> None:
    async with receiver() as server:
        server.answers[:] = [status(200, body=PDF)]
        url = f"http://127.0.0.1:{server.port}/invoices/7?token=hunter2"
        await deployed.enqueue(send_email, with_({"url": url, "name": "invoice.pdf", "content_type": "text/csv"}))
        await deployed.tick()
    [attached] = smtp_sink.mails[0].message.iter_attachments()
    assert (attached.get_content_type(), attached.get_payload(decode=True)) == ("text/csv", PDF)


@pytest.mark.parametrize(
    ("answer", "ends", "said"),
    [
        (status(404), "dead", "404 from 127.0.0.1"),
        (status(302, (("Location", "http://127.0.0.1/"),)), "dead", "302 from 127.0.0.1"),
        (status(503), "failed", "503 from 127.0.0.1"),
        (status(200, body=b"x" * (2**20 + 1)), "dead", "more than 1 MiB"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nx", "failed", "could not be had from 127.0.0.1"),
    ],
)
async def test_what_a_url_does_not_give_sends_no_mail(
    deployed: Deployed, smtp_sink: SmtpSink, monkeypatch: pytest.MonkeyPatch, answer: bytes, ends: str, said: str
) -> None:
    monkeypatch.setattr(attachments, "BYTES", 2**20)
    async with receiver() as server:

        async def once(writer: asyncio.StreamWriter) -> None:
            writer.write(answer)
            await writer.drain()

        server.answers[:] = [once]
        url = f"http://127.0.0.1:{server.port}/invoices/7?token=hunter2"
        job = await deployed.enqueue(send_email, with_({"url": url, "name": "invoice.pdf"}))
        await deployed.tick()
    found = await deployed.job(job)
    assert (found["status"], said in found["last_error"], "hunter2" in found["last_error"]) == (ends, True, False)
    assert smtp_sink.seen == []
    assert await (await deployed.conn.execute("select * from crontick.markers")).fetchall() == []


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "http://10.0.0.1/x", "file:///etc/passwd", "http://["]
)
async def test_a_url_goes_through_the_outbound_filter(deployed: Deployed, smtp_sink: SmtpSink, url: str) -> None:
    job = await deployed.enqueue(send_email, with_({"url": url, "name": "x"}))
    await deployed.tick()
    assert ((await deployed.job(job))["status"], smtp_sink.seen) == ("dead", [])


@pytest.mark.parametrize(
    ("file", "ends"), [("../secret", "dead"), ("/etc/passwd", "dead"), ("link", "dead"), ("none", "failed")]
)
async def test_no_file_outside_of_the_folder_is_attached(
    deployed: Deployed, tmp_path: Path, smtp_sink: SmtpSink, file: str, ends: str
) -> None:
    (tmp_path / "secret").write_text("hunter2")
    (tmp_path / "files" / "link").symlink_to(tmp_path / "secret")
    job = await deployed.enqueue(send_email, with_({"file": file, "name": "x"}))
    await deployed.tick()
    assert ((await deployed.job(job))["status"], smtp_sink.seen) == (ends, [])


async def test_files_of_more_than_the_bound_in_all_are_refused(
    deployed: Deployed, tmp_path: Path, smtp_sink: SmtpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachments, "BYTES", len(PDF) * 2 - 1)
    (tmp_path / "files" / "a.pdf").write_bytes(PDF)
    job = await deployed.enqueue(send_email, with_({"file": "a.pdf"}, {"file": "a.pdf"}))
    await deployed.tick()
    assert ((await deployed.job(job))["status"], smtp_sink.seen) == ("dead", [])


async def test_resend_gets_them_in_base64(deploy: Deploy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    monkeypatch.setenv("RESEND_API_KEY", API_KEY)
    with resend_stub() as stub:
        deployed = deploy(
            f'[email]\nprovider = "resend"\napi_key_env = "RESEND_API_KEY"\nbase_url = "{stub.base_url}"\n'
            f'from = "hi@acme.example"\nattachments = "{tmp_path}"\n'
        )
        await deployed.enqueue(send_email, with_({"file": "a.pdf"}))
        await deployed.tick()
    expected = {"filename": "a.pdf", "content_type": "application/pdf", "content": "JVBERg=="}
    assert stub.mails[0]["attachments"] == [expected]


@pytest.mark.parametrize("name", ['a".pdf', "a;b=c.pdf", "é" * 50 + ".pdf", "x" * 100, "a b\\".replace("\\", "'")])
def test_a_name_of_any_kind_is_a_name_on_lines_that_a_server_takes(name: str) -> None:
    content = Content("Hi", "Hello", None, (Attached(name, "application/pdf", PDF),))
    to = {"To": [Address("a@example.com")]}
    made = compose(content, Address("hi@acme.example"), to, headers={}, key="k", at=datetime(2026, 11, 30, tzinfo=UTC))
    message: Any = email.message_from_bytes(made.wire, policy=email.policy.default)
    assert [one.get_filename() for one in message.iter_attachments()] == [name]
    assert max(map(len, made.wire.split(b"\r\n"))) <= 998
    again = compose(content, Address("hi@acme.example"), to, headers={}, key="k", at=datetime(2026, 12, 1, tzinfo=UTC))
    assert again.content_hash == made.content_hash
