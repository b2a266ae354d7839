"""What is known of a mail when its server misbehaves at one step or another."""

import asyncio
import ssl

import pytest
import trustme

from crontick.jobs.kinds import smtp
from crontick.jobs.kinds.smtp import Accepted, Envelope, Said
from crontick.jobs.kinds.smtp_connections import Connections
from crontick.jobs.kinds.smtp_url import MailServer, SmtpUrlError, mail_server
from crontick.jobs.outbound import NotConnected, Unanswered
from tests.kinds.smtp_script import SILENCE, Scripted, scripted


def envelope() -> Envelope:
    return Envelope("hi@acme.example", ["a@example.com"])


async def deliver(server: MailServer, envelope: Envelope, content: bytes, *, seconds: float) -> Accepted:
    """One mail over a connection of its own."""
    connections = Connections()
    try:
        return await connections.deliver(server, envelope, content, seconds=seconds)
    finally:
        await connections.aclose()


GREETING = ("220 here", "250 sink")
CONTENT = b"Subject: x\r\n\r\nline\r\n.\r\nMAIL FROM:<x@example.com>\r\n"


async def test_the_whole_conversation_and_dots_are_doubled() -> None:
    async with scripted(*GREETING, "250 OK", "250 OK", "354 go on", "250 taken", "221 bye") as server:
        accepted = await deliver(mail_server(f"smtp://127.0.0.1:{server.port}"), envelope(), CONTENT, seconds=5)
    assert accepted == Accepted("taken", {})
    assert server.heard[0] == "EHLO acme.example"
    assert server.heard[4:] == ["Subject: x", "", "line", "..", "MAIL FROM:<x@example.com>", ".", "QUIT"]


@pytest.mark.parametrize(
    ("replies", "said"),
    [
        ((SILENCE,), "no connection in time to 127.0.0.1"),
        (("220 here", SILENCE), "no connection in time to 127.0.0.1"),
        ((*GREETING, "250 OK", SILENCE), "no connection in time to 127.0.0.1"),
        (("220 " + "x" * 5_000_000, "250 OK"), "no connection to 127.0.0.1"),
        (("HTTP/1.1 400 Bad Request",), "no connection to 127.0.0.1"),
        ((), "no connection to 127.0.0.1"),
    ],
)
async def test_before_the_content_nothing_was_sent(replies: tuple[str, ...], said: str) -> None:
    async with scripted(*replies) as server, asyncio.timeout(30):
        with pytest.raises(NotConnected, match=said) as raised:
            await deliver(mail_server(f"smtp://127.0.0.1:{server.port}"), envelope(), CONTENT, seconds=0.3)
    assert raised.value.nothing_sent


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (("354 go on", SILENCE), "no answer in time from"),
        (("354 go on",), "the connection to 127.0.0.1 broke off"),
        (("354 go on", "what?"), "the connection to 127.0.0.1 broke off"),
        (("354 go on", "252 perhaps"), "252 from 127.0.0.1, which is neither yes nor no"),
        (("354 go on", "354 more"), "354 from 127.0.0.1, which is neither yes nor no"),
    ],
)
async def test_after_the_content_nobody_knows(last: tuple[str, ...], said: str) -> None:
    async with scripted(*GREETING, "250 OK", "250 OK", *last) as server:
        with pytest.raises(Unanswered, match=said) as raised:
            await deliver(mail_server(f"smtp://127.0.0.1:{server.port}"), envelope(), CONTENT, seconds=2)
    assert raised.value.nothing_sent is False


@pytest.mark.parametrize(
    ("replies", "code", "step"),
    [
        (("554 no service here",), 554, "greeting"),
        (("421 too busy",), 421, "greeting"),
        (("220 here", "250-sink\r\n250 AUTH PLAIN", "535 5.7.8 bad credentials"), 535, "login"),
        (("220 here", "250-sink\r\n250 AUTH PLAIN", "538 encrypt first"), 538, "login"),
    ],
)
async def test_what_is_not_about_the_mail_is_temporary(replies: tuple[str, ...], code: int, step: str) -> None:
    async with scripted(*replies) as server:
        url = f"smtp://ann:hunter2pw@127.0.0.1:{server.port}?starttls=never"
        with pytest.raises(Said) as raised:
            await deliver(mail_server(url), envelope(), CONTENT, seconds=5)
    assert (raised.value.code, raised.value.step, raised.value.temporary) == (code, step, True)
    assert "hunter2pw" not in str(raised.value)


async def test_a_password_does_not_go_out_when_the_offer_to_encrypt_was_cut_out() -> None:
    async with scripted("220 here", "250-sink\r\n250 AUTH PLAIN LOGIN", "250 OK") as server:
        with pytest.raises(NotConnected, match="offers no encryption"):
            await deliver(mail_server(f"smtp://ann:pw@127.0.0.1:{server.port}"), envelope(), CONTENT, seconds=5)
    assert [line.partition(" ")[0] for line in server.heard if line] == ["EHLO"]


async def test_a_certificate_for_another_host_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    authority, theirs, ours = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("mail.example").configure_cert(theirs)
    authority.configure_trust(ours)
    monkeypatch.setattr(smtp, "_certificates", lambda: ours)
    made = Scripted(GREETING)
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0, ssl=theirs)
    port = server.sockets[0].getsockname()[1]
    with pytest.raises(NotConnected):
        await deliver(mail_server(f"smtps://127.0.0.1:{port}"), envelope(), CONTENT, seconds=5)
    server.close()
    assert made.heard == []


@pytest.mark.parametrize(
    ("url", "port", "tls", "starttls"),
    [
        ("smtp://mail.example", 25, False, None),
        ("smtp://u:p@mail.example", 587, False, True),
        ("smtp://u:p@mail.example:2525?starttls=optional", 2525, False, None),
        ("smtps://u:p@mail.example", 465, True, False),
        ("smtp://mail.example?starttls=never", 25, False, False),
        ("smtp://mail.example?starttls=required", 25, False, True),
    ],
)
def test_encryption_is_asked_for_where_a_password_is(url: str, port: int, tls: object, starttls: object) -> None:
    server = mail_server(url)
    assert (server.host, server.port, server.tls, server.starttls) == ("mail.example", port, tls, starttls)


def test_the_login_is_url_encoded_and_is_not_shown() -> None:
    server = mail_server("smtp://ann%40acme:p%2Fw@mail.example")
    assert (server.user, server.password) == ("ann@acme", "p/w")
    assert "p/w" not in repr(server)


@pytest.mark.parametrize(
    "url", ["", "mail.example", "http://mail.example", "smtp://", "smtp://h:pw", "smtp://h?starttls=x"]
)
def test_a_url_that_names_no_server_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(SmtpUrlError) as raised:
        mail_server(url)
    assert "pw" not in str(raised.value)
