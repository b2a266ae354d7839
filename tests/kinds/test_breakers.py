"""A target that keeps failing is left alone, its jobs keep their attempts, and one probe tells when it is well."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from crontick.jobs.kinds.deliver_webhook import DeliverWebhook, deliver_webhook
from tests.kinds.conftest import Deployed
from tests.worlds.http_receiver import Answer, HttpReceiver, http_receiver

Deploy = Callable[[str], Deployed]
ALLOW = '[http]\nallow = ["127.0.0.1"]\n'
TWO_MINUTES = timedelta(minutes=2)


@pytest.fixture
def crm() -> Iterator[HttpReceiver]:
    with http_receiver() as made:
        yield made


@pytest.fixture
def deployed(deploy: Deploy) -> Deployed:
    return deploy(ALLOW)


async def breaker(deployed: Deployed, target: str) -> dict[str, Any]:
    """Its row; empty for a target in good health."""
    cursor = await deployed.conn.execute("select to_jsonb(b) from crontick.breakers as b where target = %s", (target,))
    row = await cursor.fetchone()
    return dict(row[0]) if row else {}


async def value(deployed: Deployed, text: str, *values: object) -> Any:
    row = await (await deployed.conn.execute(text.encode(), values)).fetchone()
    return row and row[0]


async def send(deployed: Deployed, url: str, count: int = 1, **options: Any) -> list[int]:
    return [await deployed.enqueue(deliver_webhook, DeliverWebhook(url=url, body={}), **options) for _ in range(count)]


async def fallen(deployed: Deployed, crm: HttpReceiver) -> str:
    """A target whose breaker is open: five jobs of it have failed once and are tried again in a day."""
    crm.otherwise = Answer(503, headers={"retry-after": "86400"})
    await send(deployed, f"{crm.url}/a", 5)
    await deployed.tick()
    assert (await breaker(deployed, f"{crm.url}/a"))["state"] == "open"
    crm.requests.clear()
    return f"{crm.url}/a"


async def test_five_failures_in_a_row_open_and_the_others_wait_with_their_attempts(
    deployed: Deployed, crm: HttpReceiver
) -> None:
    target = await fallen(deployed, crm)
    found = await breaker(deployed, target)
    assert found["reason"].startswith("5 failures in a row, the last: 503 in job ")
    jobs = await send(deployed, f"{target}?with=a query", 10, max_attempts=3)
    assert (await deployed.tick()).claimed == 0
    assert crm.requests == []
    told = [await deployed.job(job) for job in jobs]
    assert {(job["status"], job["attempt"], job["held_by"]) for job in told} == {("queued", 0, found["hold"])}
    why = await value(deployed, "select crontick.why(%s)", jobs[0])
    assert why.startswith(f"waits for {target}, which keeps failing (5 failures in a row, the last: 503 in job ")


async def test_after_its_time_one_probe_is_sent_and_closes_it(deployed: Deployed, crm: HttpReceiver) -> None:
    target = await fallen(deployed, crm)
    jobs = await send(deployed, target, 10, max_attempts=3)
    due = (await deployed.tick()).next_due_at
    assert due is not None
    assert due.isoformat()[:23] == (await breaker(deployed, target))["retry_at"][:23]
    await deployed.later(TWO_MINUTES)
    crm.otherwise = Answer(200)
    summary = await deployed.tick()
    assert (summary.claimed, summary.succeeded) == (10, 10)
    assert {(await deployed.job(job))["attempt"] for job in jobs} == {1}
    found = await breaker(deployed, target)
    assert (found["state"], found["times_opened"]) == ("closed", 1)
    actions = "select array_agg(action order by id) from crontick.audit where target = %s and by = 'crontick'"
    assert await value(deployed, actions, target) == ["open_breaker", "close_breaker"]


async def test_a_probe_that_fails_opens_it_for_longer_and_is_the_only_one_a_hold(
    deployed: Deployed, crm: HttpReceiver
) -> None:
    target = await fallen(deployed, crm)
    await send(deployed, target, 10)
    holds = []
    for hold in range(1, 8):
        length = "select extract(epoch from retry_at - crontick.now())::float8 from crontick.breakers"
        holds.append(await value(deployed, length))
        await deployed.tick()
        await deployed.later(timedelta(seconds=holds[-1] + 1))
        assert len(crm.requests) == hold - 1
        assert (await deployed.tick()).claimed == 1
    least = [60, 120, 240, 480, 960, 1920, 3600]
    assert all(low - 2 <= held <= low * 1.1 + 2 for low, held in zip(least, holds, strict=True)), holds


async def test_ten_of_the_last_twenty_open(deployed: Deployed, crm: HttpReceiver) -> None:
    for nth in range(10):
        await send(deployed, f"{crm.url}/a", 2)
        crm.answers.extend([Answer(503, headers={"retry-after": "86400"}), Answer(200)])
        await deployed.tick()
        assert (await breaker(deployed, f"{crm.url}/a"))["state"] == ("open" if nth == 9 else "closed")
    found = await breaker(deployed, f"{crm.url}/a")
    assert found["reason"].startswith("10 failures in the last 20")


@pytest.mark.parametrize("status", [400, 401, 404, 410, 422])
async def test_an_answer_that_refuses_the_job_opens_nothing(deployed: Deployed, crm: HttpReceiver, status: int) -> None:
    crm.otherwise = Answer(status)
    await send(deployed, f"{crm.url}/a", 12)
    assert (await deployed.tick()).dead == 12
    assert await value(deployed, "select count(*) from crontick.breakers") == 0


async def test_two_urls_of_one_host_have_two_breakers(deployed: Deployed, crm: HttpReceiver) -> None:
    target = await fallen(deployed, crm)
    crm.otherwise = Answer(200)
    [other] = await send(deployed, f"{crm.url}/b")
    [held] = await send(deployed, target)
    await deployed.tick()
    assert (await deployed.job(other))["status"] == "succeeded"
    assert (await deployed.job(held))["status"] == "queued"


async def test_a_named_endpoint_has_a_breaker_of_its_own_and_410_still_disables_it(
    deployed: Deployed, crm: HttpReceiver
) -> None:
    await deployed.conn.execute("select crontick.set_endpoint('crm', %s)", (f"{crm.url}/a",))
    payload = DeliverWebhook(endpoint="crm", body={})
    crm.otherwise = Answer(503, headers={"retry-after": "86400"})
    for _ in range(5):
        await deployed.enqueue(deliver_webhook, payload)
    await deployed.tick()
    assert (await breaker(deployed, "endpoint:crm"))["state"] == "open"
    job = await deployed.enqueue(deliver_webhook, payload)
    await deployed.tick()
    await deployed.later(timedelta(seconds=67))
    crm.otherwise = Answer(410)
    await deployed.tick()
    assert (await deployed.job(job))["status"] == "dead"
    assert (await breaker(deployed, "endpoint:crm"))["state"] == "closed"
    assert await value(deployed, "select status_code from crontick.paused") == 410


async def test_no_answer_and_no_connection_count_as_failures(deployed: Deployed, crm: HttpReceiver) -> None:
    crm.otherwise = Answer(close=True)
    await send(deployed, f"{crm.url}/a", 4)
    await deployed.tick()
    [last] = await send(deployed, f"{crm.url}/a")
    await deployed.tick()
    found = await breaker(deployed, f"{crm.url}/a")
    assert (found["state"], found["reason"]) == ("open", f"5 failures in a row, the last: no answer in job {last}")


async def test_a_flood_after_closing_is_bounded_and_grows_with_what_succeeds(
    deployed: Deployed, crm: HttpReceiver
) -> None:
    target = await fallen(deployed, crm)
    await send(deployed, target, 60)
    while (await deployed.tick()).more:
        pass
    await deployed.later(TWO_MINUTES)
    crm.otherwise = Answer(200)
    free = []

    async def look(_: object) -> Answer:
        # Asked from the receiver's thread, while the tick waits for this very answer.
        free.append(
            waiting.execute(
                "select count(*) from crontick.unfinished_jobs where held_by is null and due_at <= crontick.now()"
            ).fetchall()[0][0]
        )
        return Answer(200)

    with psycopg.connect(deployed.deployment.settings.database_url or "", autocommit=True) as waiting:
        crm.act = look
        while (await deployed.tick()).more:
            pass
    assert len(crm.requests) == 60
    assert free[0] == 1
    assert max(free[1:6]) <= 5
    assert await value(deployed, "select count(*) from crontick.breakers") == 0


async def test_an_endpoint_that_moved_is_sent_to_at_once(deployed: Deployed, crm: HttpReceiver) -> None:
    await deployed.conn.execute("select crontick.set_endpoint('crm', %s)", (f"{crm.url}/old",))
    crm.otherwise = Answer(503, headers={"retry-after": "86400"})
    for _ in range(5):
        await deployed.enqueue(deliver_webhook, DeliverWebhook(endpoint="crm", body={}))
    await deployed.tick()
    job = await deployed.enqueue(deliver_webhook, DeliverWebhook(endpoint="crm", body={}))
    assert (await deployed.tick()).claimed == 0
    crm.otherwise = Answer(200)
    await deployed.conn.execute("select crontick.set_endpoint('crm', %s)", (f"{crm.url}/new",))
    assert (await deployed.tick()).succeeded == 1
    assert (await deployed.job(job))["status"] == "succeeded"


KIND = '[kinds.resize_image]\nurl = "{url}"\nbackoff = ["1d"]\n'


async def enqueue_kind(deployed: Deployed, count: int) -> None:
    await deployed.conn.execute("select crontick.enqueue('resize_image') from generate_series(1, %s)", (count,))


async def test_a_kind_at_a_url_has_a_breaker_by_its_name(
    deploy: Deploy, crm: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", "whsec_" + "A" * 43 + "=")
    deployed = deploy(KIND.format(url=crm.url))
    crm.otherwise = Answer(500)
    await enqueue_kind(deployed, 5)
    await deployed.tick()
    assert (await breaker(deployed, "kind:resize_image"))["state"] == "open"
    await deployed.later(TWO_MINUTES)
    crm.otherwise = Answer(204, b"")
    await enqueue_kind(deployed, 1)
    assert (await deployed.tick()).succeeded == 1
    assert (await breaker(deployed, "kind:resize_image"))["state"] == "closed"


async def test_the_configuration_takes_a_kinds_breaker_away(
    deploy: Deploy, crm: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRONTICK_SIGNING_SECRET", "whsec_" + "A" * 43 + "=")
    deployed = deploy(KIND.format(url=crm.url) + "breaker = false\n")
    crm.otherwise = Answer(500)
    await enqueue_kind(deployed, 12)
    assert (await deployed.tick()).failed == 12
    assert await value(deployed, "select count(*) from crontick.breakers") == 0
