"""A kind at a URL: its jobs are POSTed, signed, to the user's own app, whose answer is their fate."""

import base64
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from standardwebhooks import Webhook

from crontick.jobs.deployment import load_deployment
from tests.kinds.conftest import Deployed
from tests.worlds.http_receiver import Answer, HttpReceiver, http_receiver

Deploy = Callable[[str], Deployed]
OLD, NEW = ("whsec_" + base64.b64encode(bytes([fill]) * 32).decode() for fill in (3, 4))


@pytest.fixture
def app() -> Iterator[HttpReceiver]:
    with http_receiver() as made:
        yield made


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", f"{NEW},{OLD}")


def resize(app: HttpReceiver, more: str = "") -> str:
    return f'[kinds.resize_image]\nurl = "{app.url}/jobs/resize"\n{more}'


async def enqueue(deployed: Deployed, payload: str = '{"image": 7}', **options: Any) -> int:
    """As an app in any language does."""
    said = "".join(f", {name} => %({name})s" for name in options)
    statement = f"select crontick.enqueue('resize_image', %(payload)s::text::jsonb{said})"
    cursor = await deployed.conn.execute(statement.encode(), {"payload": payload, **options})
    [row] = await cursor.fetchall()
    return int(row[0])


async def ticked(deployed: Deployed, answer: Answer, app: HttpReceiver) -> dict[str, Any]:
    """What becomes of a fresh job that is answered so."""
    app.answers.append(answer)
    job = await enqueue(deployed)
    await deployed.tick()
    return await deployed.job(job)


async def test_the_job_is_posted_signed_with_all_that_the_app_needs(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app, "max_attempts = 4\n"))
    job = await enqueue(deployed, '{"image": 7, "price": 1.10, "big": 12345678901234567890123}')
    await deployed.tick()
    [request] = app.requests
    assert (request.method, request.target, request.headers["webhook-id"]) == ("POST", "/jobs/resize", f"job-{job}")
    for secret in (OLD, NEW):
        Webhook(secret).verify(request.body, request.headers)
    body, found = json.loads(request.body), await deployed.job(job)
    assert {name: body[name] for name in ("id", "kind", "attempt", "max_attempts")} == {
        "id": job, "kind": "resize_image", "attempt": 1, "max_attempts": 4
    }  # fmt: skip
    assert body["claim"] == str(found["claim"])
    assert body["deadline"].endswith("Z")
    assert body["created_at"].endswith("Z")
    assert b'"price": 1.10, "big"' not in request.body
    assert (b'"price": 1.10' in request.body, b"12345678901234567890123" in request.body) == (True, True)
    assert found["status"] == "succeeded"


async def test_the_app_finds_the_slot_of_a_schedule_in_the_payload(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app))
    await enqueue(deployed, '{"image": 7, "$schedule": {"name": "nightly", "missed": 2}}')
    await deployed.tick()
    [request] = app.requests
    assert json.loads(request.body)["payload"]["$schedule"] == {"name": "nightly", "missed": 2}


@pytest.mark.parametrize(
    ("answer", "result"),
    [
        (Answer(204, b""), None),
        (Answer(200, b"ok"), None),
        (Answer(200, b"OK", headers={"content-type": "text/html"}), None),
        (Answer(200, b'{"width": 80}'), {"width": 80}),
        (Answer(202, b'{"dead": "x", "n": 1}', headers={"content-type": "text/html"}), {"dead": "x", "n": 1}),
        (Answer(200, b"[1, null]"), [1, None]),
        (Answer(200, b'"x"'), "x"),
        (Answer(200, b"null"), None),
        (Answer(200, json.dumps("x" * 16_382).encode()), "x" * 16_382),
    ],
)
async def test_a_2xx_succeeds_and_its_json_is_the_result(
    deploy: Deploy, app: HttpReceiver, answer: Answer, result: object
) -> None:
    found = await ticked(deploy(resize(app)), answer, app)
    assert (found["status"], found["result"]) == ("succeeded", result)


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (Answer(200, json.dumps("x" * 16_383).encode()), "dead", "more than the 16 KiB"),
        (Answer(200, b"<!doctype html><p>Sign in"), "failed", "an HTML page"),
        (Answer(200, b'{"a": '), "failed", "JSON that is broken"),
        (Answer(200, b"oops", headers={"content-type": "application/json"}), "failed", "JSON that is broken"),
        (Answer(200, b'{"a": NaN}'), "failed", "JSON that is broken"),
        (Answer(200, b'{"a": 1e999}'), "failed", "the result is refused"),
        (Answer(200, b'{"a": "\\u0000"}'), "failed", "the result is refused"),
        (Answer(200, b"[" * 15_000), "failed", "JSON that is broken"),
        (Answer(200, b'{"snooze": "soon"}'), "failed", '"snooze" is not a number of seconds'),
        (Answer(200, b'{"snooze": true}'), "failed", '"snooze" is not a number of seconds'),
        (Answer(200, b'{"dead": 7}'), "failed", '"dead" is not a text'),
        (Answer(200, b'{"dead": "no such image"}'), "dead", "no such image"),
        (Answer(200, b'{"cancel": "the image is gone"}'), "cancelled", "the image is gone"),
        (Answer(200, b'{"completed": true}'), "failed", "complete was not committed"),
        (Answer(302, headers={"location": "/x"}), "dead", "a redirect is not followed"),
        (Answer(404, b"no such route"), "dead", "404 from 127.0.0.1: no such route"),
        (Answer(410), "dead", "410 from 127.0.0.1"),
        (Answer(408), "failed", "408 from 127.0.0.1"),
        (Answer(425), "failed", "425 from 127.0.0.1"),
        (Answer(500, b"KeyError:\n 'image'"), "failed", "500 from 127.0.0.1: KeyError: 'image'"),
        (Answer(close=True), "failed", "the answer broke off from 127.0.0.1"),
    ],
)  # fmt: skip
async def test_any_other_answer_is_the_fate_that_is_documented(
    deploy: Deploy, app: HttpReceiver, answer: Answer, status: str, said: str
) -> None:
    found = await ticked(deploy(resize(app)), answer, app)
    assert found["status"] == status
    assert said in (found["last_error"] or "")
    assert len(app.requests) == 1


async def test_what_the_app_says_stands_in_no_summary(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app))
    app.answers += [Answer(500, b"Ada's card was refused"), Answer(200, b'{"dead": "Ada is gone"}')]
    for _ in range(2):
        await enqueue(deployed)
        told = json.dumps((await deployed.tick()).as_dict())
        assert "from 127.0.0.1" in told
        assert "Ada" not in told


async def test_a_snooze_uses_no_attempt_and_the_next_post_is_the_same_event(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app))
    app.answers.append(Answer(200, b'{"snooze": 60}'))
    job = await enqueue(deployed)
    await deployed.tick()
    assert 55 <= await deployed.seconds_until(job) <= 60
    await deployed.later(timedelta(seconds=61))
    await deployed.tick()
    found = await deployed.job(job)
    assert (found["status"], found["attempt"]) == ("succeeded", 1)
    first, second = app.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert json.loads(first.body)["claim"] != json.loads(second.body)["claim"]


async def test_retry_after_is_waited_for(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app))
    app.answers.append(Answer(429, headers={"retry-after": "600"}))
    job = await enqueue(deployed)
    await deployed.tick()
    assert 590 <= await deployed.seconds_until(job) <= 600


async def test_an_answer_that_is_lost_is_asked_for_again(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app, "timeout = 1\n"))
    app.answers.append(Answer(hang=True))
    job = await enqueue(deployed)
    await deployed.tick()
    assert (await deployed.job(job))["last_error"] == "Retry: no answer in time from 127.0.0.1"
    await deployed.later(timedelta(seconds=70))
    await deployed.tick()
    assert (await deployed.job(job))["status"] == "succeeded"
    assert [request.headers["webhook-id"] for request in app.requests] == [f"job-{job}"] * 2


async def test_a_body_that_does_not_end_in_time_says_nothing(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app, "timeout = 1\n"))
    found = await ticked(deployed, Answer(200, b'{"dead": "x"}', drip_seconds=1), app)
    assert (found["status"], found["last_error"]) == (
        "failed",
        "Retry: 200 from 127.0.0.1, whose body did not end in time",
    )


async def test_a_requeued_job_is_the_same_event(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app))
    app.answers.append(Answer(400))
    job = await enqueue(deployed)
    await deployed.tick()
    await deployed.conn.execute("select crontick.requeue(%s, 'ada', 'mended')", (job,))
    await deployed.tick()
    assert [request.headers["webhook-id"] for request in app.requests] == [f"job-{job}"] * 2
    first, second = (json.loads(request.body)["id"] for request in app.requests)
    assert first == job < second


@pytest.mark.parametrize(("value", "said"), [("", "CRONTICK_SIGNING_SECRET is not set"), ("whsec_!", "is not base64")])
async def test_without_a_secret_nothing_is_sent(
    deploy: Deploy, app: HttpReceiver, monkeypatch: pytest.MonkeyPatch, value: str, said: str
) -> None:
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", value)
    deployed = deploy(resize(app))
    job = await enqueue(deployed)
    await deployed.tick()
    found = await deployed.job(job)
    assert found["status"] == "failed"
    assert said in found["last_error"]
    assert app.requests == []


async def test_it_is_a_kind_like_all_others(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app, 'queue = "slow"\npriority = -3\nbackoff = ["10m"]\n'))
    await deployed.tick()
    app.answers.append(Answer(503))
    job = await enqueue(deployed)
    await deployed.tick()
    found = await deployed.job(job)
    assert (found["queue"], found["priority"]) == ("slow", -3)
    assert 598 <= await deployed.seconds_until(job) <= 660


async def test_a_secret_field_is_clear_for_the_app_alone(deploy: Deploy, app: HttpReceiver) -> None:
    deployed = deploy(resize(app, 'secret = ["token"]\n'))
    key = base64.b64encode(bytes([9]) * 32).decode()
    deployed.deployment = load_deployment(replace(deployed.deployment.settings, encryption_keys=(key,)))
    app.answers.append(Answer(400, b"what is tok-4711?"))
    job = await enqueue(deployed, '{"token": "tok-4711"}')
    await deployed.tick()
    [request] = app.requests
    assert json.loads(request.body)["payload"]["token"] == "tok-4711"
    assert "tok-4711" not in json.dumps([await deployed.job(job), await deployed.attempts(job)])
    assert "what is" in (await deployed.job(job))["last_error"]
