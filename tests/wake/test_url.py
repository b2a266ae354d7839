"""Alarms of services over HTTP: the configurations of the document, as they stand there."""

import json
from datetime import timedelta
from typing import Any

import pytest

from crontick.jobs import kind
from crontick.jobs.wake import google_token
from tests.wake.conftest import Waking
from tests.wake.services import PLAYED, Alarms, documented
from tests.worlds.http_receiver import Answer, HttpReceiver, http_receiver

pytestmark = pytest.mark.anyio
SECRET = "a-cron-secret-of-the-test"
URL = """
[wake]
provider = "url"
url = "{url}/alarms"
timeout = 1
body = '{{"at": "{{{{wake_at}}}}"}}'
"""


@kind("note")
async def note(_: dict[str, Any]) -> None: ...


@pytest.fixture
def metadata(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Google's metadata server."""
    with http_receiver() as server:
        server.otherwise = Answer(body=json.dumps({"access_token": "ya29.of-the-test", "expires_in": 3599}).encode())
        monkeypatch.setenv("GCE_METADATA_HOST", server.url.removeprefix("http://"))
        monkeypatch.setattr(google_token, "_KEPT", {})
        yield server


@pytest.mark.parametrize(("nth", "service"), [(1, "cloud_tasks"), (2, "qstash")], ids=["cloud tasks", "qstash"])
async def test_the_next_due_time_has_an_alarm_which_nobody_moves_and_which_heals(
    world: Waking, alarms: Alarms, metadata: HttpReceiver, nth: int, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRON_SECRET", f"{SECRET},an-older-secret-of-the-test")
    monkeypatch.setenv("QSTASH_TOKEN", "qstash-token-of-the-test")
    PLAYED[service](alarms)
    world.configure(documented(nth, alarms.receiver))
    await world.enqueue(7000)
    first = await world.tick(note)
    assert first.next_due_at is not None
    assert first.wake_at is not None, first.warnings
    assert timedelta(0) <= first.wake_at - first.next_due_at < timedelta(minutes=1)
    [(name, request)] = alarms.set.items()
    assert f"crontick-{first.wake_at:%Y%m%dT%H%M00Z}-" in name
    assert alarms.moments[name] == first.wake_at
    assert f"Bearer {SECRET}".encode() in request.head + request.body
    assert b"an-older-secret" not in request.head + request.body
    assert (await world.tick(note)).wake_at == first.wake_at, "one that is set is as good"
    await world.enqueue(3000)
    earlier = await world.tick(note)
    assert sorted(alarms.moments.values()) == [earlier.wake_at, first.wake_at]
    alarms.lose()
    await world.tick(note)
    if service == "qstash":
        assert alarms.moments == {}, "it forgets a name before the alarm goes off, and would call twice"
        assert (await world.tick(note)).wake_at == earlier.wake_at
        return
    assert list(alarms.moments.values()) == [earlier.wake_at], "a lost alarm is set again by the next tick"
    monkeypatch.setenv("CRON_SECRET", "a-newer-cron-secret-of-the-test")
    await world.tick(note)
    assert list(alarms.moments.values()) == [earlier.wake_at] * 2, "one with a secret that was rotated is none"
    assert [one.headers["metadata-flavor"] for one in metadata.requests] == ["Google"], "one token serves for all"
    assert request.headers["authorization"] == "Bearer ya29.of-the-test"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(status=429, body=b"a secret of the service"), "no alarm was set: 429 from 127.0.0.1; "),
        (Answer(hang=True), "no alarm was set: no answer"),
        (Answer(close=True), "no alarm was set: the answer broke off from 127.0.0.1; "),
        (Answer(status=302, headers={"location": "http://127.0.0.1:1/"}), "no alarm was set: 302 from 127.0.0.1; "),
        (Answer(body=b"x" * 100_000), ""),
    ],
    ids=["throttled", "hangs", "hangs up", "redirects", "answers at length"],
)
async def test_a_service_that_fails_fails_no_tick_and_is_asked_again_by_the_next(
    world: Waking, alarms: Alarms, answer: Answer, said: str
) -> None:
    world.configure(URL.format(url=alarms.receiver.url))
    await world.enqueue(-1)
    await world.enqueue(7000)
    alarms.receiver.otherwise = answer
    summary = await world.tick(note)
    assert (summary.ran, summary.succeeded, summary.wake_at is None) == (True, 1, said != "")
    told = [warning for warning in summary.warnings if "alarm" in warning]
    assert len(told) == bool(said)
    assert "".join(told).startswith(said)
    alarms.receiver.otherwise = Answer()
    assert (await world.tick(note)).wake_at is not None


async def test_a_secret_that_is_missing_is_named_and_fails_no_tick(
    world: Waking, alarms: Alarms, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.configure(URL.format(url=alarms.receiver.url) + 'secrets_env = { token = "NOBODY_SET_THIS" }\n')
    await world.enqueue(7000)
    summary = await world.tick(note)
    assert "no alarm was set: NOBODY_SET_THIS is not set" in " ".join(summary.warnings)
    monkeypatch.setenv("NOBODY_SET_THIS", ",")
    assert "no alarm was set" in " ".join((await world.tick(note)).warnings)
    assert alarms.receiver.requests == []


async def test_beyond_a_week_a_service_is_not_asked(world: Waking, alarms: Alarms) -> None:
    world.configure(URL.format(url=alarms.receiver.url))
    await world.enqueue(8 * 86400)
    summary = await world.tick(note)
    assert (summary.wake_at, alarms.receiver.requests) == (None, [])
