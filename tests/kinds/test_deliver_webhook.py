"""A webhook is delivered, tried again or given up as its receiver's answer says."""

import asyncio
import base64
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from crontick.jobs.kinds.deliver_webhook import DeliverWebhook, deliver_webhook
from crontick.jobs.payload import PayloadError
from tests.kinds.cases import cases
from tests.kinds.conftest import Deployed
from tests.kinds.receiver import receiver
from tests.worlds.http_receiver import Answer, HttpReceiver, http_receiver

Deploy = Callable[[str], Deployed]
OLD, NEW = ("whsec_" + base64.b64encode(bytes([fill]) * 32).decode() for fill in (1, 2))
ALLOW = '[http]\nallow = ["127.0.0.1"]\n'


@pytest.fixture
def crm() -> Iterator[HttpReceiver]:
    with http_receiver() as made:
        yield made


def endpoint(crm: HttpReceiver, secrets: str = '"CRM_SECRET"') -> str:
    return f'{ALLOW}[[webhook_endpoint]]\nname = "crm"\nurl = "{crm.url}/hook"\nsecret_env = {secrets}\n'


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRM_SECRET", NEW)
    monkeypatch.setenv("CRM_SECRET_OLD", OLD)


async def test_a_delivery_carries_a_signature_that_the_receiver_can_check(deploy: Deploy, crm: HttpReceiver) -> None:
    deployed = deploy(endpoint(crm, '["CRM_SECRET", "CRM_SECRET_OLD"]'))
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(endpoint="crm", body={"b": "Zoë", "a": [1, 2.5]}))
    await deployed.tick()
    [request] = crm.requests
    assert (await deployed.job(job))["status"] == "succeeded"
    assert request.target == "/hook"
    assert request.headers["webhook-id"] == f"job-{job}"
    for secret in (OLD, NEW):
        assert Webhook(secret).verify(request.body, request.headers) == {"b": "Zoë", "a": [1, 2.5]}
    assert request.body.decode() == '{"a": [1, 2.5], "b": "Zoë"}'


async def test_numbers_go_out_as_the_database_has_them(deploy: Deploy, crm: HttpReceiver) -> None:
    deployed, exact = deploy(ALLOW), '{"price": 12345678901234567.890, "id": 18446744073709551617}'
    payload = f'{{"url": "{crm.url}", "body": {exact}}}'
    await deployed.conn.execute("select crontick.enqueue('deliver_webhook', %s)", (payload,))
    await deployed.tick()
    [request] = crm.requests
    assert json.loads(request.body, parse_float=str, parse_int=str) == {
        "price": "12345678901234567.890",
        "id": "18446744073709551617",
    }


async def test_what_the_receiver_says_is_kept_with_the_attempt_and_told_to_no_summary(
    deploy: Deploy, crm: HttpReceiver
) -> None:
    crm.answers.append(Answer(400, body=b'{"error":\n "no \xff\x00 such account"}' + b"x" * 5000))
    deployed = deploy(ALLOW)
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=crm.url, body={}))
    summary = await deployed.tick()
    [attempt] = await deployed.attempts(job)
    assert attempt["error"].startswith('Permanent: 400 from 127.0.0.1: {"error": "no \ufffd\ufffd such account"}xxx')
    assert len(attempt["error"]) < 600
    assert (await deployed.job(job))["last_error"] == attempt["error"]
    assert summary.as_dict()["errors"][0]["error"] == "400 from 127.0.0.1"


async def test_the_result_is_the_status_code_and_how_long_it_took(deploy: Deploy, crm: HttpReceiver) -> None:
    crm.answers.append(Answer(202))
    deployed = deploy(ALLOW)
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=crm.url, body={}))
    await deployed.tick()
    result = (await deployed.job(job))["result"]
    assert result == {"status_code": 202, "seconds": result["seconds"]}
    assert 0 <= result["seconds"] < 8


async def test_a_secret_may_hold_several_values_and_stand_in_a_file(
    deploy: Deploy, crm: HttpReceiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "crm").write_text(f"{NEW}, {OLD}\n")
    monkeypatch.delenv("CRM_SECRET")
    monkeypatch.setenv("CRM_SECRET_FROM", f"file:{tmp_path}/crm")
    deployed = deploy(endpoint(crm))
    await deployed.enqueue(deliver_webhook, DeliverWebhook(endpoint="crm", body={}))
    await deployed.tick()
    [request] = crm.requests
    for secret in (OLD, NEW):
        Webhook(secret).verify(request.body, request.headers)
    assert deployed.deployment.redact(f"{NEW} {OLD}") == "[redacted] [redacted]"


async def test_a_secret_whose_file_is_missing_says_so(
    deploy: Deploy, crm: HttpReceiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("CRM_SECRET")
    monkeypatch.setenv("CRM_SECRET_FROM", f"file:{tmp_path}/none")
    deployed = deploy(endpoint(crm))
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(endpoint="crm", body={}))
    await deployed.tick()
    [attempt] = await deployed.attempts(job)
    assert "CRM_SECRET_FROM" in attempt["error"]
    assert crm.requests == []


async def test_a_redirect_is_dead_and_says_what_to_write(deploy: Deploy, crm: HttpReceiver) -> None:
    crm.answers.append(Answer(301, headers={"location": f"{crm.url}/elsewhere"}))
    deployed = deploy(ALLOW)
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=crm.url, body={}))
    summary = await deployed.tick()
    found = await deployed.job(job)
    assert (found["status"], found["last_status_code"], len(crm.requests)) == ("dead", 301, 1)
    assert summary.as_dict()["errors"][0]["error"].startswith("301 from 127.0.0.1: a redirect is not followed")


async def test_a_retry_has_the_same_id_and_a_new_timestamp(deploy: Deploy, crm: HttpReceiver) -> None:
    deployed = deploy(endpoint(crm))
    crm.answers.append(Answer(503))
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(endpoint="crm", body=1, event_id="evt_7"))
    await deployed.tick()
    [failed] = await deployed.attempts(job)
    assert (failed["error"], failed["status_code"]) == ("Retry: 503 from 127.0.0.1: ok", 503)
    assert 60 <= await deployed.seconds_until(job) <= 67
    await deployed.later(timedelta(seconds=70))
    await deployed.tick()
    assert (await deployed.job(job))["status"] == "succeeded"
    assert [request.headers["webhook-id"] for request in crm.requests] == ["evt_7", "evt_7"]
    for request in crm.requests:
        Webhook(NEW).verify(request.body, request.headers)


async def test_the_status_decides(deploy: Deploy, crm: HttpReceiver) -> None:
    deployed, became = deploy(ALLOW), {}
    for known in cases("statuses"):
        case = known.values[0]
        crm.otherwise = Answer(case["status"])
        # Each to a URL of its own: five failures of one would open its breaker.
        payload = DeliverWebhook(url=f"{crm.url}/{case['name']}", body={})
        job = await deployed.enqueue(deliver_webhook, payload)
        await deployed.tick()
        became[case["name"]] = (await deployed.job(job))["status"]
    assert became == {known.values[0]["name"]: known.values[0]["status_after"] for known in cases("statuses")}
    assert len(crm.requests) == len(became)


@pytest.mark.parametrize(
    ("header", "least", "most"), [("1", 60, 67), ("3600", 3600, 3601), ("9999999999", 86400, 86401), ("soon", 60, 67)]
)
async def test_retry_after_is_waited_for_and_our_own_delay_is_the_least(
    deploy: Deploy, crm: HttpReceiver, header: str, least: int, most: int
) -> None:
    crm.otherwise = Answer(429, headers={"retry-after": header})
    deployed = deploy(ALLOW)
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=crm.url, body={}))
    await deployed.tick()
    assert least - 2 <= await deployed.seconds_until(job) <= most


async def test_eight_attempts_over_two_days_and_then_dead(deploy: Deploy, crm: HttpReceiver) -> None:
    crm.otherwise = Answer(500)
    deployed = deploy(ALLOW)
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=crm.url, body={}))
    waits = []
    for _ in range(8):
        await deployed.tick()
        if (await deployed.job(job))["status"] != "dead":
            waits.append(await deployed.seconds_until(job))
            await deployed.later(timedelta(seconds=waits[-1] + 1))
    plain = [60, 300, 1800, 7200, 18000, 36000, 86400]
    assert (await deployed.job(job))["status"] == "dead"
    assert len(crm.requests) == 8
    assert all(delay - 2 <= wait <= delay * 1.1 + 1 for delay, wait in zip(plain, waits, strict=True))


async def test_a_receiver_that_says_nothing_costs_its_own_attempt_only(deploy: Deploy, crm: HttpReceiver) -> None:
    crm.answers.append(Answer(hang=True))
    deployed = deploy(f"{ALLOW}[kinds.deliver_webhook]\ntimeout = 1\n")
    jobs = [await deployed.enqueue(deliver_webhook, DeliverWebhook(url=crm.url, body={})) for _ in range(3)]
    await deployed.tick()
    statuses = sorted([(await deployed.job(job))["status"] for job in jobs])
    errors = [attempt["error"] for job in jobs for attempt in await deployed.attempts(job) if attempt["error"]]
    assert statuses == ["failed", "succeeded", "succeeded"]
    assert errors == ["Retry: no answer in time from 127.0.0.1"]


async def test_an_answer_that_trickles_ends_with_the_time_of_the_whole_and_its_status_counts(deploy: Deploy) -> None:
    """Chunks without end, each long before any pause is too long: what is left of the attempt ends it, in our words."""
    loop = asyncio.get_running_loop()
    trickled: list[float] = []

    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 503 Busy\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\nx\r\n")
            await writer.drain()
            trickled.append(loop.time())
            await asyncio.sleep(0.05)

    async with receiver() as slow:
        slow.answers = [trickle]
        deployed = deploy(f"{ALLOW}[kinds.deliver_webhook]\ntimeout = 4\n")
        job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=f"http://127.0.0.1:{slow.port}/", body={}))
        await deployed.tick()
    [attempt] = await deployed.attempts(job)
    assert (attempt["outcome"], attempt["status_code"], attempt["error"][:26]) == (
        "failed",
        503,
        "Retry: 503 from 127.0.0.1:",
    )
    assert len(trickled) > 2


async def test_a_closed_connection_is_tried_again(deploy: Deploy, crm: HttpReceiver) -> None:
    crm.answers.append(Answer(close=True))
    deployed = deploy(ALLOW)
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=crm.url, body={}))
    await deployed.tick()
    [attempt] = await deployed.attempts(job)
    assert attempt["error"] == "Retry: the answer broke off from 127.0.0.1"


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/", "https://10.0.0.1/", "http://example.com/", "ftp://x/", "", "https://["]
)
async def test_a_forbidden_url_is_dead_at_once_and_is_not_quoted(deploy: Deploy, url: str) -> None:
    deployed = deploy("")
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(url=url, body={}))
    summary = await deployed.tick()
    found = await deployed.job(job)
    assert (found["status"], found["attempt"]) == ("dead", 1)
    assert "refused" in summary.as_dict()["errors"][0]["error"]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("cmr", NEW, "there is no endpoint cmr (did you mean crm?): neither in crontick.toml"),
        ("crm", "", "CRM_SECRET is not set"),
        ("crm", "whsec_!!!", "not base64"),
    ],
)
async def test_what_the_configuration_lacks_may_be_there_next_time(
    deploy: Deploy, crm: HttpReceiver, monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    monkeypatch.setenv("CRM_SECRET", value)
    deployed = deploy(endpoint(crm))
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(endpoint=name, body={}))
    await deployed.tick()
    [attempt] = await deployed.attempts(job)
    assert said in attempt["error"]
    assert attempt["retryable"]
    assert crm.requests == []


@pytest.mark.parametrize(
    "fields",
    [{}, {"url": "https://a.example/", "endpoint": "crm"}, {"endpoint": "crm", "event_id": "msg.1"},
     {"endpoint": "crm", "event_id": "msg_1\r\nX: 1"}, {"endpoint": "crm", "event_id": ""}],
)  # fmt: skip
def test_a_payload_that_cannot_be_delivered_is_refused_when_it_is_enqueued(fields: dict[str, Any]) -> None:
    with pytest.raises(PayloadError):
        deliver_webhook.payload.encode({"body": 1, **fields})
