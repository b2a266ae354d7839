"""The token goes to one address in one header, and nowhere else."""

import ssl
from pathlib import Path

import pytest
import trustme

from tests.door.serving import TOKEN
from tests.trigger.calling import Runner, summary
from tests.worlds import http_receiver as receivers
from tests.worlds.http_receiver import Answer, HttpReceiver
from tests.worlds.waiting import until


def test_no_process_has_the_token_on_its_command_line(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = Answer(hang=True)
    child = runner.start(http_receiver.url)
    until(lambda: http_receiver.requests)
    command = Path(f"/proc/{child.pid}/cmdline").read_bytes()
    child.kill()
    assert b"tick.py" in command
    assert TOKEN.encode() not in command


@pytest.mark.parametrize("status", [200, 302, 401, 503])
def test_a_server_that_sends_the_token_back_does_not_get_it_printed(
    runner: Runner, http_receiver: HttpReceiver, status: int
) -> None:
    names = ("location", "retry-after", "www-authenticate", "content-type")
    http_receiver.otherwise = Answer(status, TOKEN.encode(), dict.fromkeys(names, f"Bearer {TOKEN}"))
    told = runner.run(http_receiver.url, TICK_MAX_RETRIES="0")
    assert told.status == 1
    assert TOKEN not in told.log + told.page + str(told.outputs)


def test_the_runner_is_asked_to_mask_it_and_that_is_the_one_place(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = summary()
    told = runner.run(http_receiver.url, CRON_SECRET=f"{TOKEN}%0A", GITHUB_ACTIONS="true")
    assert told.lines[0] == f"::add-mask::{TOKEN}%250A"
    assert TOKEN not in "\n".join(told.lines[1:])


def test_a_redirect_is_not_followed_though_it_leads_to_a_tick(runner: Runner, http_receiver: HttpReceiver) -> None:
    with receivers.http_receiver() as elsewhere:
        elsewhere.otherwise = summary()
        http_receiver.otherwise = Answer(308, b"", {"location": elsewhere.url})
        assert runner.run(http_receiver.url).status == 1
    assert elsewhere.requests == []


def test_https_is_spoken_and_plain_http_need_not_be_allowed(runner: Runner, tmp_path: Path) -> None:
    with receivers.http_receiver(tls=certified(tmp_path)) as receiver:
        receiver.otherwise = summary(claimed=1, succeeded=1)
        told = runner.run(receiver.url, SSL_CERT_FILE=str(tmp_path / "ca.pem"), TICK_ALLOW_PRIVATE_HTTP="")
    assert (told.status, told.outputs["succeeded"]) == (0, "1")


def test_a_certificate_that_nobody_vouches_for_gets_no_token(runner: Runner, tmp_path: Path) -> None:
    with receivers.http_receiver(tls=certified(tmp_path)) as receiver:
        told = runner.run(receiver.url)
        assert receiver.requests == []
    (error,) = told.commands("error")
    assert error == "the certificate of CRONTICK_URL's host is not valid, or not for that name"


def test_a_proxy_on_the_way_does_not_see_it(runner: Runner, http_receiver: HttpReceiver) -> None:
    http_receiver.otherwise = Answer(407)
    told = runner.run("https://app.example", https_proxy=http_receiver.url, no_proxy="", TICK_MAX_RETRIES="0")
    (request,) = http_receiver.requests
    assert (told.status, request.method, request.target) == (1, "CONNECT", "app.example:443")
    assert TOKEN.encode() not in request.head


def certified(folder: Path) -> ssl.SSLContext:
    """A server's side of TLS for 127.0.0.1; who vouches for it is in ``ca.pem``."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    return context
