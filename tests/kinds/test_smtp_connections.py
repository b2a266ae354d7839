"""One connection serves the mails of a tick, one after another, and is made again when the server ended it."""

import asyncio
import ssl
from collections.abc import Callable

import pytest
import trustme

from crontick.jobs.kinds import smtp
from crontick.jobs.kinds.held import Held
from crontick.jobs.kinds.send_email import SendEmail, send_email
from crontick.jobs.kinds.smtp import Envelope, Said
from crontick.jobs.kinds.smtp_connections import Connections
from crontick.jobs.kinds.smtp_url import mail_server
from crontick.jobs.outbound import NotConnected
from tests.kinds.conftest import Deployed
from tests.kinds.smtp_script import SILENCE, scripted
from tests.worlds.smtp_sink import SmtpSink, smtp_sink
from tests.worlds.waiting import async_until

CONTENT = b"Subject: x\r\n\r\nHello\r\n"
ONE_MAIL = ("250 OK", "250 OK", "354 go on", "250 taken")
CONFIG = '[email]\nurl_env = "SMTP_URL"\nfrom = "hi@acme.example"\nconnections = {connections}\n'


def envelope() -> Envelope:
    return Envelope("hi@acme.example", ["ann@example.com"])


async def hand_in(connections: Connections, url: str, *, mails: int = 1, most: int = 20) -> None:
    for _ in range(mails):
        await connections.deliver(mail_server(url), envelope(), CONTENT, seconds=5, most=most)


@pytest.fixture
def certificates(monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's, for 127.0.0.1, whose authority is trusted here."""
    authority, theirs, ours = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(theirs)
    authority.configure_trust(ours)
    monkeypatch.setattr(smtp, "_certificates", lambda: ours)
    return theirs


async def test_the_mails_of_a_tick_share_a_connection_which_ends_with_it(
    deploy: Callable[[str], Deployed], smtp_sink: SmtpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    deployed = deploy(CONFIG.format(connections=1))
    smtp_sink.replies["RCPT"].extend(["250 OK", "550 5.1.1 unknown"])
    for n in range(5):
        await deployed.enqueue(send_email, SendEmail(to=f"a{n}@example.com", subject="Hi", text="Hello"))
    summary = await deployed.tick()
    assert (summary.succeeded, summary.dead) == (4, 1)
    assert len({mail.peer for mail in smtp_sink.mails}) == 1
    await async_until(lambda: smtp_sink.goodbyes == 1)


async def test_no_connection_has_two_mails_at_once(smtp_sink: SmtpSink) -> None:
    connections = Connections()
    await asyncio.gather(*(hand_in(connections, smtp_sink.url) for _ in range(6)))
    assert len(smtp_sink.mails) == 6
    assert 1 < len({mail.peer for mail in smtp_sink.mails}) <= 6
    await connections.aclose()


async def test_there_are_no_more_connections_than_were_asked_for(smtp_sink: SmtpSink) -> None:
    connections = Connections()
    await asyncio.gather(*(hand_in(connections, smtp_sink.url, most=2) for _ in range(6)))
    assert len({mail.peer for mail in smtp_sink.mails}) == 2
    await connections.aclose()


@pytest.mark.parametrize("end", [(), ("421 you were here for long enough",)])
async def test_one_that_the_server_ended_between_two_mails_is_opened_again(end: tuple[str, ...]) -> None:
    connections = Connections()
    async with scripted("220 here", "250 sink", *ONE_MAIL, *end) as server:
        await hand_in(connections, f"smtp://127.0.0.1:{server.port}", mails=3)
    assert server.heard.count("EHLO acme.example") == 3
    assert server.heard.count("Subject: x") == 3
    await connections.aclose()


async def test_after_a_refusal_the_next_mail_begins_anew_on_the_same_connection() -> None:
    connections = Connections()
    async with scripted("220 here", "250 sink", "250 OK", "550 unknown", "250 reset", *ONE_MAIL) as server:
        url = f"smtp://127.0.0.1:{server.port}"
        with pytest.raises(Said):
            await hand_in(connections, url)
        await hand_in(connections, url)
    assert [line.partition(" ")[0] for line in server.heard[:6]] == ["EHLO", "MAIL", "RCPT", "RSET", "MAIL", "RCPT"]
    await connections.aclose()


@pytest.mark.parametrize("encryption", ["starttls", "tls"])
async def test_a_login_goes_out_encrypted_and_once(certificates: ssl.SSLContext, encryption: str) -> None:
    connections = Connections()
    with smtp_sink(user=("ann", "hunter2pw"), **{encryption: certificates}) as sink:
        scheme = "smtps" if encryption == "tls" else "smtp"
        await hand_in(connections, f"{scheme}://ann:hunter2pw@127.0.0.1:{sink.port}", mails=3)
        await connections.aclose()
    assert (len(sink.mails), sink.logins) == (3, 1)


async def test_a_wrong_login_is_tried_once_however_many_mails_wait(certificates: ssl.SSLContext) -> None:
    connections = Connections()
    with smtp_sink(user=("ann", "another"), starttls=certificates) as sink:
        url = f"smtp://ann:hunter2pw@127.0.0.1:{sink.port}"
        said = await asyncio.gather(*(hand_in(connections, url) for _ in range(8)), return_exceptions=True)
        await connections.aclose()
    assert [(type(error), getattr(error, "code", None)) for error in said] == [(Said, 535)] * 8
    assert (sink.logins, sink.mails) == (1, [])


async def test_whom_a_throttled_server_did_not_see_is_held_without_an_attempt(
    deploy: Callable[[str], Deployed], smtp_sink: SmtpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    deployed = deploy(CONFIG.format(connections=1))
    smtp_sink.replies["DATA"].append("454 Throttling failure: Maximum sending rate exceeded")
    jobs = [await deployed.enqueue(send_email, SendEmail(to="a@example.com", subject="", text="")) for _ in range(3)]
    summary = await deployed.tick()
    assert (summary.failed, summary.snoozed, len(smtp_sink.seen)) == (1, 2, 1)
    assert min([await deployed.seconds_until(job) for job in jobs]) > 590


async def test_whoever_gets_no_free_connection_in_time_was_not_tried() -> None:
    connections = Connections()
    async with scripted("220 here", SILENCE) as server:
        url = mail_server(f"smtp://127.0.0.1:{server.port}")

        async def tried() -> None:
            await connections.deliver(url, envelope(), CONTENT, seconds=1, most=1)

        said = await asyncio.gather(tried(), tried(), return_exceptions=True)
    assert {type(error) for error in said} == {NotConnected, Held}
