"""Mail servers and receivers are connected to when asked, and nothing is sent to them."""

from pathlib import Path

import pytest

from tests.cli.conftest import Command
from tests.doctor.conftest import Conn, said, wrong
from tests.worlds.http_receiver import HttpReceiver
from tests.worlds.smtp_sink import SmtpSink

CONFIG = """
[http]
allow = ["127.0.0.1"]
[email]
url_env = "SMTP_URL"
from = "hi@acme.example"
[kinds.resize_image]
url = "{kind}"
"""


@pytest.fixture
def deployed(doctor: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, http_receiver: HttpReceiver) -> Command:
    """The doctor of a deployment with mail and a kind at a URL."""
    (tmp_path / "crontick.toml").write_text(CONFIG.format(kind=http_receiver.url))
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    return doctor


def test_what_is_up_is_told_and_gets_nothing(
    deployed: Command, owner: Conn, smtp_sink: SmtpSink, http_receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    owner.execute("select crontick.set_endpoint('crm', %s, null, 'ada')", (http_receiver.url,))
    assert wrong(deployed, "--reach") == []
    told = said(deployed, "--reach")
    assert "mail server 127.0.0.1 takes a connection and its login" in told
    assert "kind resize_image: 127.0.0.1 takes a connection" in told
    assert "endpoint crm: 127.0.0.1 takes a connection" in told
    assert (http_receiver.requests, smtp_sink.seen) == ([], [])


def test_nobody_is_connected_to_unasked(
    deployed: Command, http_receiver: HttpReceiver, smtp_sink: SmtpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    assert wrong(deployed) == []
    assert (http_receiver.connections, smtp_sink.goodbyes) == (0, 0)


def test_what_is_down_is_wrong_and_its_url_is_not_quoted(
    deployed: Command, owner: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", "smtp://ada:hunter2@127.0.0.1:1?starttls=never")
    owner.execute("select crontick.set_endpoint('crm', 'http://127.0.0.1:1/token-of-crm', null, 'ada')")
    mail, endpoint = wrong(deployed, "--reach")
    assert mail.startswith("mail server 127.0.0.1: no connection to 127.0.0.1: look at SMTP_URL")
    assert endpoint.startswith("endpoint crm: no connection from 127.0.0.1: is it up")
    assert "hunter2" not in mail + endpoint
    assert "token-of-crm" not in mail + endpoint


def test_a_mail_server_that_takes_no_login(
    deployed: Command, smtp_sink: SmtpSink, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url.replace("smtp://", "smtp://ada:hunter2@") + "?starttls=never")
    [sentence] = wrong(deployed, "--reach")
    assert sentence.startswith("mail server 127.0.0.1: 127.0.0.1 offers no login by")


@pytest.mark.parametrize("host", ["169.254.169.254", "127.0.0.2"])
def test_a_receiver_that_the_filter_refuses(
    deployed: Command, owner: Conn, smtp_sink: SmtpSink, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    owner.execute("select crontick.set_endpoint('inside', %s, null, 'ada')", (f"http://{host}/latest",))
    [sentence] = wrong(deployed, "--reach")
    assert sentence.startswith(f"endpoint inside: {host} is refused: not every address of it is public")


def test_a_receiver_whose_certificate_nobody_trusts(
    deployed: Command, owner: Conn, smtp_sink: SmtpSink, http_receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    plain = http_receiver.url.replace("http://", "https://")
    owner.execute("select crontick.set_endpoint('plain', %s, null, 'ada')", (plain,))
    found = wrong(deployed, "--reach")
    assert [sentence for sentence in found if sentence.startswith("endpoint plain: no ")], found
