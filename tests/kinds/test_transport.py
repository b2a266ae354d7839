"""Webhooks over bad networks: whatever a receiver does, the job's row is whole and the tick ends in time."""

import asyncio
import gzip
import socket
import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trustme
from msgspec.structs import replace
from standardwebhooks import Webhook, WebhookVerificationError

from crontick.jobs.dial import certificates
from crontick.jobs.kinds.deliver_webhook import DeliverWebhook, deliver_webhook
from crontick.jobs.kinds.signature import new_secret
from crontick.jobs.request import TickRequest
from tests.kinds.conftest import Deployed
from tests.kinds.receiver import Answering, Received, receiver, status
from tests.worlds.http_receiver import Answer, HttpReceiver
from tests.worlds.proxy import Proxy

pytestmark = pytest.mark.anyio
Deploy = Callable[[str], Deployed]
ALLOW = '[http]\nallow = ["127.0.0.1", "localhost"]\n'
SHORT = f"{ALLOW}[kinds.deliver_webhook]\ntimeout = 1\nneeds = 1\n"


def seated(deployed: Deployed, **settings: Any) -> Deployed:
    deployment = deployed.deployment
    deployed.deployment = msgspec.structs.replace(deployment, settings=replace(deployment.settings, **settings))
    return deployed


async def hang_up(_: asyncio.StreamWriter) -> None:
    return


@pytest.mark.parametrize(
    ("answer", "became", "said"),
    [
        (hang_up, "failed", "the answer broke off from 127.0.0.1"),
        (status(200, (("Content-Encoding", "gzip"),), gzip.compress(bytes(50_000_000))), "succeeded", None),
        (b"HTTP/1.1 200 OK\r\nX-A: " + b"b" * 1_000_000 + b"\r\n\r\n", "failed", "the answer broke off"),
        (status(500, (), b"\xff\xfe no \x00 good"), "failed", "500 from 127.0.0.1: \ufffd\ufffd no \ufffd good"),
        (b"HTTP/1.1 200 \xff\xfe\r\nX-A: \xff\r\nContent-Length: 0\r\n\r\n", "succeeded", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "failed", "the answer broke off"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "failed", "the answer broke off"),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", "failed", "the answer broke off"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n" + status(204), "succeeded", None),
    ],
    ids=[
        "no answer",
        "gzip",
        "an endless header",
        "bytes that are no text",
        "a status line that is none",
        "a short body",
        "chunks that are none",
        "another protocol",
        "early hints",
    ],
)
async def test_whatever_comes_back_the_row_is_whole(
    deploy: Deploy, answer: bytes | Answering, became: str, said: str | None
) -> None:
    deployed = deploy(SHORT)
    async with receiver() as made:
        made.answers = [_then_close(answer)]
        job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=f"http://127.0.0.1:{made.port}/", body={}))
        await deployed.tick()
    found = await deployed.job(job)
    assert found["status"] == became, found["last_error"]
    assert (found["last_error"] is None) == (said is None)
    assert said is None or said in found["last_error"]


def _then_close(answer: bytes | Answering) -> Answering:
    """A receiver that says no more: what is too short stays so."""
    if callable(answer):
        return answer

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()

    return write


async def test_a_refused_connection_is_tried_again(deploy: Deploy) -> None:
    deployed = deploy(ALLOW)
    with socket.socket() as unheard:  # bound, and nobody listens
        unheard.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unheard.getsockname()[1]}/"
        job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=url, body={}))
        await deployed.tick()
    found = await deployed.job(job)
    assert (found["status"], found["last_error"]) == ("failed", "Retry: no connection to 127.0.0.1")


async def test_what_may_have_been_processed_comes_again_under_the_same_id(deploy: Deploy) -> None:
    deployed = deploy(ALLOW)
    async with receiver() as made:
        made.answers = [hang_up, status(200)]
        job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=f"http://127.0.0.1:{made.port}/", body={}))
        await deployed.tick()
        await deployed.later(timedelta(minutes=2))
        await deployed.tick()
    assert [request.header("webhook-id") for request in made.requests] == [f"job-{job}"] * 2


async def test_two_endpoints_on_one_kept_connection_have_each_its_own_signature(deploy: Deploy) -> None:
    deployed = seated(deploy(ALLOW), concurrency=1)
    secrets = {"a": new_secret(), "b": new_secret()}
    async with receiver() as made:
        for name, secret in secrets.items():
            url = f"http://127.0.0.1:{made.port}/{name}"
            await deployed.conn.execute("select crontick.set_endpoint(%s, %s, %s)", (name, url, secret))
            await deployed.enqueue(deliver_webhook, DeliverWebhook(endpoint=name, body={}))
        await deployed.tick()
    assert made.connections == 1
    for request in made.requests:
        own, other = request.target.strip("/"), "b" if request.target == "/a" else "a"
        assert verified(request, secrets[own])
        assert not verified(request, secrets[other])


def verified(request: Received, secret: str) -> bool:
    try:
        Webhook(secret).verify(request.body, {name.lower(): value for name, value in request.headers})
    except WebhookVerificationError:
        return False
    return True


async def test_slow_receivers_do_not_hold_the_tick_and_what_did_not_begin_stays_due(
    deploy: Deploy, http_receiver: HttpReceiver
) -> None:
    http_receiver.otherwise = Answer(hang=True)
    deployed = seated(deploy(SHORT), concurrency=5)
    jobs = [await deployed.enqueue(deliver_webhook, DeliverWebhook(url=http_receiver.url, body={})) for _ in range(20)]
    summary = await deployed.tick(TickRequest(budget_seconds=2))
    assert 0 < summary.claimed < 20
    assert summary.duration_ms <= 2000
    statuses = [(await deployed.job(job))["status"] for job in jobs]
    assert statuses.count("queued") == 20 - summary.claimed
    assert "running" not in statuses


async def test_a_hundred_webhooks_in_a_hundred_seats_go_out_at_once_and_in_three_round_trips(
    deploy: Deploy, proxy: Proxy
) -> None:
    """None is answered before all have come: one by one, or twenty at a time, they would wait for each other."""
    deployed = seated(deploy(ALLOW), concurrency=100)
    await deployed.tick()  # makes the kinds known
    seated(deployed, database_url=proxy.url)
    all_here = asyncio.Barrier(100)

    async def together(writer: asyncio.StreamWriter) -> None:
        await all_here.wait()
        writer.write(status(200))

    async with receiver() as made:
        made.answers = [together]
        await deployed.conn.execute("select crontick.set_endpoint('crm', %s)", (f"http://127.0.0.1:{made.port}/",))
        await deliver_webhook.enqueue_many(deployed.conn, [DeliverWebhook(endpoint="crm", body={})] * 100)
        summary = await deployed.tick()
    assert (summary.succeeded, len(made.requests)) == (100, 100)
    assert proxy.round_trips == 3, "opening and claiming; the endpoint, once for all; settling"


async def test_an_endpoint_is_asked_for_once_a_tick(deploy: Deploy, proxy: Proxy, http_receiver: HttpReceiver) -> None:
    deployed = seated(deploy(ALLOW), concurrency=1)
    await deployed.tick()  # makes the kinds known
    seated(deployed, database_url=proxy.url)
    await deployed.conn.execute("select crontick.set_endpoint('crm', %s)", (http_receiver.url,))
    await deliver_webhook.enqueue_many(deployed.conn, [DeliverWebhook(endpoint="crm", body={})] * 5)
    assert (await deployed.tick()).succeeded == 5
    assert proxy.round_trips == 1 + 1 + 5, "opening, the endpoint, an exchange after each job in the one seat"


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[trustme.CA]:
    """An authority of the operator's own, which this process trusts."""
    made = trustme.CA()
    made.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))
    certificates.cache_clear()
    yield made
    certificates.cache_clear()


def server(authority: trustme.CA, name: str, **options: Any) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name, **options).configure_cert(context)
    return context


@pytest.mark.parametrize(
    ("name", "ends_at", "became"),
    [
        ("localhost", None, "succeeded"),
        ("localhost", datetime(2021, 1, 1, tzinfo=UTC), "failed"),
        ("another.example", None, "failed"),
    ],
    ids=["good", "expired", "of another name"],
)
async def test_a_certificate_is_to_be_whole_in_time_and_of_that_name(
    deploy: Deploy, authority: trustme.CA, name: str, ends_at: datetime | None, became: str
) -> None:
    deployed = deploy(ALLOW)
    options = {} if ends_at is None else {"not_before": ends_at - timedelta(days=1), "not_after": ends_at}
    async with receiver(server(authority, name, **options)) as made:
        job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=f"https://localhost:{made.port}/", body={}))
        await deployed.tick()
    found = await deployed.job(job)
    assert found["status"] == became
    assert len(made.requests) == (became == "succeeded")
    if became == "failed":
        assert found["last_error"] == "Retry: no certificate that is trusted from localhost"


async def test_a_certificate_of_a_stranger_is_not_trusted(deploy: Deploy) -> None:
    deployed = deploy(ALLOW)
    async with receiver(server(trustme.CA(), "localhost")) as made:
        job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=f"https://localhost:{made.port}/", body={}))
        await deployed.tick()
    assert (await deployed.job(job))["status"] == "failed"
    assert made.requests == []


async def test_a_file_of_authorities_that_cannot_be_read_is_named(
    deploy: Deploy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    certificates.cache_clear()
    deployed = deploy(ALLOW)
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url="https://localhost:1/", body={}))
    await deployed.tick()
    assert "SSL_CERT_FILE names" in (await deployed.job(job))["last_error"]
