"""Endpoints by name: set from SQL, rotated, sealed, disabled by a 410 and opened again."""

import asyncio
import base64
import os
import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
from msgspec.structs import replace
from standardwebhooks import Webhook, WebhookVerificationError

from crontick.jobs.kinds.deliver_webhook import DeliverWebhook, deliver_webhook
from crontick.jobs.sealing import read_keyring
from tests.kinds.conftest import Deployed
from tests.kinds.receiver import receiver, status
from tests.worlds.http_receiver import Answer, HttpReceiver, http_receiver
from tests.worlds.proxy import Proxy

Deploy = Callable[[str], Deployed]
ALLOW = '[http]\nallow = ["127.0.0.1"]\n'
DAY = timedelta(days=1)


@pytest.fixture
def crm() -> Iterator[HttpReceiver]:
    with http_receiver() as made:
        yield made


@pytest.fixture
def deployed(deploy: Deploy) -> Deployed:
    return deploy(ALLOW)


async def one(deployed: Deployed, text: str, *values: object) -> Any:
    row = await (await deployed.conn.execute(text.encode(), values or None)).fetchone()
    assert row is not None
    return row[0]


async def set_endpoint(deployed: Deployed, name: str, url: str | None = None, secret: str | None = None) -> str | None:
    made: str | None = await one(deployed, "select crontick.set_endpoint(%s, %s, %s)", name, url, secret)
    return made


async def deliver(deployed: Deployed, name: str = "crm", count: int = 1) -> list[int]:
    return [await deployed.enqueue(deliver_webhook, DeliverWebhook(endpoint=name, body={})) for _ in range(count)]


def keyring(deployed: Deployed, *names: str) -> None:
    """Give the deployment these keys, the first of which seals."""
    keys = ",".join(f"{name}:{base64.b64encode(name.encode() * 16).decode()}" for name in names)
    deployed.deployment = msgspec.structs.replace(deployed.deployment, keyring=read_keyring(keys))


def verified(secret: str, crm: HttpReceiver) -> bool:
    request = crm.requests[-1]
    try:
        Webhook(secret).verify(request.body, request.headers)
    except WebhookVerificationError:
        return False
    return True


async def test_an_endpoint_set_from_sql_is_signed_with_the_secret_that_was_made_for_it(
    deployed: Deployed, crm: HttpReceiver
) -> None:
    secret = await set_endpoint(deployed, "crm", f"{crm.url}/hook")
    [job] = await deliver(deployed)
    await deployed.tick()
    assert (await deployed.job(job))["status"] == "succeeded"
    assert crm.requests[0].target == "/hook"
    assert secret is not None
    assert verified(secret, crm)
    assert await set_endpoint(deployed, "crm", f"{crm.url}/other") is None


async def test_a_new_secret_and_the_one_before_sign_for_a_day(deployed: Deployed, crm: HttpReceiver) -> None:
    old = await set_endpoint(deployed, "crm", crm.url) or ""
    new = await set_endpoint(deployed, "crm", secret="new") or ""
    assert new != old
    await deliver(deployed)
    await deployed.tick()
    assert [verified(secret, crm) for secret in (new, old)] == [True, True]
    await deployed.later(DAY)
    given = "whsec_" + base64.b64encode(os.urandom(24)).decode()
    await set_endpoint(deployed, "crm", secret=given)
    await deliver(deployed)
    await deployed.conn.execute("update crontick.webhook_endpoints set old_secret_until = crontick.now()")
    await deployed.tick()
    signed = crm.requests[-1].headers["webhook-signature"]
    assert verified(given, crm)
    assert len(signed.split(" ")) == 1


@pytest.mark.parametrize(
    ("call", "state"),
    [
        ("set_endpoint('crm')", "CT404"),
        ("set_endpoint('', 'https://x.example')", "CT004"),
        ("set_endpoint(null, 'https://x.example')", "CT004"),
        ("set_endpoint(repeat('x', 129), 'https://x.example')", "CT004"),
        ("set_endpoint('crm', 'ftp://x.example')", "CT004"),
        ("set_endpoint('crm', E'https://x.example/a\\r\\nb')", "CT004"),
        ("set_endpoint('crm', 'https://x.example', 'whsec_')", "CT004"),
        ("set_endpoint('crm', 'https://x.example', 'whsec_!!!notbase64!!!')", "CT004"),
        ("set_endpoint('crm', 'https://x.example', E'whsec_MfKQ9r8GKYqrTwjUPD8ILPZI\\no2LaLaSw')", "CT004"),
        ("set_endpoint('crm', 'https://x.example', by => '')", "CT004"),
        ("drop_endpoint('crm')", "CT404"),
        ("pause('endpoint', repeat('x', 129), 'ann')", "CT004"),
    ],
)
async def test_an_endpoint_that_cannot_be_one_is_refused(deployed: Deployed, call: str, state: str) -> None:
    with pytest.raises(psycopg.Error) as raised:
        await deployed.conn.execute(f"select crontick.{call}".encode())
    assert raised.value.sqlstate == state
    assert "notbase64" not in str(raised.value)


async def test_its_secret_is_in_no_view_and_no_audit(deployed: Deployed) -> None:
    secret = await set_endpoint(deployed, "crm", "https://crm.example/hook") or ""
    for view in ("endpoints", "audit"):
        told = await one(deployed, f"select string_agg(v::text, ' ') from crontick.{view} as v")
        assert "crm" in told
        assert secret.removeprefix("whsec_") not in told
    assert await one(deployed, "select by from crontick.audit where action = 'set_endpoint'") == "postgres"


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://crm.example/hooks/s3cret", "crm.example"),
        ("https://crm.example:8443?key=s3cret", "crm.example:8443"),
        ("https://me:s3cret@crm.example#s3cret", "crm.example"),
        ("https://me:s3@cret@crm.example", "crm.example"),
        ("http://[::1]:80/s3cret", "[::1]:80"),
        ("https://@", None),
    ],
)
async def test_the_view_shows_the_host_of_a_url_alone(deployed: Deployed, url: str, host: str | None) -> None:
    await set_endpoint(deployed, "crm", url)
    assert await one(deployed, "select host from crontick.endpoints") == host
    assert "s3" not in await one(deployed, "select e::text from crontick.endpoints as e")


async def test_an_endpoint_that_is_dropped_is_one_that_may_come_back(deployed: Deployed, crm: HttpReceiver) -> None:
    await set_endpoint(deployed, "crm", crm.url)
    await deployed.conn.execute("select crontick.drop_endpoint('crm', 'ann')")
    [job] = await deliver(deployed)
    await deployed.tick()
    assert "there is no endpoint crm" in (await deployed.job(job))["last_error"]
    await set_endpoint(deployed, "crm", crm.url)
    await deployed.later(timedelta(minutes=2))
    await deployed.tick()
    assert (await deployed.job(job))["status"] == "succeeded"


async def test_the_configurations_endpoint_goes_before_the_databases(
    deploy: Deploy, crm: HttpReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRM", "whsec_" + "A" * 32)
    endpoint = f'[[webhook_endpoint]]\nname = "crm"\nurl = "{crm.url}/file"\nsecret_env = "CRM"\n'
    deployed = deploy(ALLOW + endpoint)
    await set_endpoint(deployed, "crm", f"{crm.url}/row")
    await deliver(deployed)
    await deployed.tick()
    assert [request.target for request in crm.requests] == ["/file"]


async def test_the_first_tick_that_has_keys_seals_the_secrets_and_goes_on_signing(
    deployed: Deployed, crm: HttpReceiver
) -> None:
    old = await set_endpoint(deployed, "crm", crm.url) or ""
    new = await set_endpoint(deployed, "crm", secret="new") or ""
    keyring(deployed, "k1")
    for key in ("k1", "k2"):
        await deliver(deployed)
        await deployed.tick()
        assert [verified(secret, crm) for secret in (new, old)] == [True, True]
        lying = await one(deployed, "select secret || ' ' || old_secret from crontick.webhook_endpoints")
        assert [text.split(":")[0] for text in lying.split(" ")] == [key, key]
        assert await one(deployed, "select sealed from crontick.endpoints") is True
        keyring(deployed, "k2", "k1")


async def test_a_secret_whose_key_is_missing_says_so_and_sends_nothing(deployed: Deployed, crm: HttpReceiver) -> None:
    await set_endpoint(deployed, "crm", crm.url)
    keyring(deployed, "k1")
    await deliver(deployed)
    await deployed.tick()
    keyring(deployed, "k2")
    [job] = await deliver(deployed)
    await deployed.tick()
    assert "sealed with the key k1, which this deployment lacks" in (await deployed.job(job))["last_error"]
    assert len(crm.requests) == 1


async def test_a_sealed_secret_opens_for_its_own_endpoint_only(deployed: Deployed, crm: HttpReceiver) -> None:
    for name in ("crm", "eve"):
        await set_endpoint(deployed, name, crm.url)
    keyring(deployed, "k1")
    await deliver(deployed)
    await deployed.tick()
    theirs = "select secret from crontick.webhook_endpoints where name = 'crm'"
    await deployed.conn.execute(f"update crontick.webhook_endpoints set secret = ({theirs})".encode())
    [job] = await deliver(deployed, "eve")
    await deployed.tick()
    assert "does not open" in (await deployed.job(job))["last_error"]
    assert len(crm.requests) == 1


@pytest.mark.parametrize(
    "opening", ["resume('endpoint', 'crm', 'ann')", "set_endpoint('crm')", "set_endpoint('crm', secret => 'new')"]
)
async def test_a_410_disables_the_endpoint_and_holds_its_jobs_until_it_is_opened(
    deployed: Deployed, crm: HttpReceiver, opening: str
) -> None:
    crm.answers.append(Answer(410))
    await set_endpoint(deployed, "crm", crm.url)
    await set_endpoint(deployed, "other", crm.url)
    [gone] = await deliver(deployed)
    await deployed.tick()
    dead = await deployed.job(gone)
    assert (dead["status"], dead["last_status_code"]) == ("dead", 410)
    assert "endpoint crm is disabled: `crontick resume endpoint crm`" in dead["last_error"]

    waiting, others = await deliver(deployed, count=3), await deliver(deployed, "other", 2)
    for _ in range(2):
        await deployed.tick()
    held = [await deployed.job(job) for job in waiting]
    assert [(job["status"], job["held_by"], job["attempt"]) for job in held] == [("queued", "endpoint:crm", 0)] * 3
    assert [(await deployed.job(job))["status"] for job in others] == ["succeeded"] * 2
    why = await one(deployed, "select crontick.why(%s)", waiting[0])
    assert why.startswith("endpoint crm is disabled since ")
    assert f"by crontick (it answered 410, Gone, to job {gone}): `crontick resume endpoint crm`" in why
    assert await one(deployed, "select status_code from crontick.endpoints where name = 'crm'") == 410
    assert await one(deployed, "select job from crontick.audit where action = 'disable'") == gone

    await deployed.conn.execute(f"select crontick.{opening}".encode())
    await deployed.tick()
    assert [(await deployed.job(job))["status"] for job in waiting] == ["succeeded"] * 3
    assert len(crm.requests) == 6


async def test_an_endpoint_that_somebody_paused_stays_so_whatever_is_set(deployed: Deployed, crm: HttpReceiver) -> None:
    await set_endpoint(deployed, "crm", crm.url)
    await deployed.conn.execute("select crontick.pause('endpoint', 'crm', 'ann', 'deploy')")
    await set_endpoint(deployed, "crm", f"{crm.url}/new")
    [job] = await deliver(deployed)
    await deployed.tick()
    assert (await deployed.job(job))["held_by"] == "endpoint:crm"
    assert "endpoint crm is paused since" in await one(deployed, "select crontick.why(%s)", job)
    assert crm.requests == []


async def test_a_410_to_a_plain_url_disables_nothing(deployed: Deployed, crm: HttpReceiver) -> None:
    crm.answers.append(Answer(410))
    for _ in range(2):
        await deployed.enqueue(deliver_webhook, DeliverWebhook(url=crm.url, body={}))
        await deployed.tick()
    assert len(crm.requests) == 2
    assert await one(deployed, "select count(*) from crontick.paused") == 0


@pytest.mark.parametrize("act", ["pause('endpoint', 'crm', 'ann')", "set_endpoint('crm', secret => 'new')"])
async def test_a_tick_waits_for_nobody_who_is_just_pausing_or_setting_the_endpoint(
    deployed: Deployed, crm: HttpReceiver, database: str, act: str
) -> None:
    crm.otherwise = Answer(410)
    await set_endpoint(deployed, "crm", crm.url)
    keyring(deployed, "k1")
    async with await psycopg.AsyncConnection.connect(database) as other:
        await other.execute(f"select crontick.{act}".encode())
        [job] = await deliver(deployed)
        assert (await deployed.tick()).dead == 1
        assert (await deployed.job(job))["status"] == "dead"
        await other.rollback()
    assert await one(deployed, "select count(*) from crontick.paused") == 0
    await deliver(deployed)
    await deployed.tick()
    assert await one(deployed, "select count(*) from crontick.paused") == 1


async def test_a_job_held_by_a_claim_that_did_not_see_the_resume_is_freed_by_a_later_opening(
    deployed: Deployed, crm: HttpReceiver, database: str
) -> None:
    await set_endpoint(deployed, "crm", crm.url)
    await deployed.conn.execute("select crontick.pause('endpoint', 'crm', 'ann')")
    [job] = await deliver(deployed)
    async with await psycopg.AsyncConnection.connect(database) as slow:
        held = "select crontick.park(array[%s::bigint], now(), '{deliver_webhook}', '{}', '{}', '{crm}')"
        await slow.execute(held.encode(), (job,))
        await deployed.conn.execute("select crontick.resume('endpoint', 'crm', 'ann')")
        await deployed.tick()  # answers the call of the resume: it sees no job that is held
        assert (await deployed.job(job))["held_by"] is None
        await slow.commit()
    assert (await deployed.job(job))["held_by"] == "endpoint:crm"
    await deployed.tick()
    assert (await deployed.job(job))["status"] == "succeeded"
    assert await one(deployed, "select count(*) from crontick.endpoint_calls") == 0


async def test_held_jobs_come_back_a_bounded_number_at_a_time(deployed: Deployed, crm: HttpReceiver) -> None:
    await set_endpoint(deployed, "crm", crm.url)
    jobs = await deliver(deployed, count=5)
    await deployed.conn.execute("select crontick.pause('endpoint', 'crm', 'ann')")
    await deployed.tick()
    await deployed.conn.execute("select crontick.resume('endpoint', 'crm', 'ann')")
    freed = [await one(deployed, "select crontick.free_endpoints(2)") for _ in range(4)]
    assert freed == [2, 2, 1, 0]
    await deployed.tick()
    assert [(await deployed.job(job))["status"] for job in jobs] == ["succeeded"] * 5


async def test_a_suspect_of_a_paused_endpoint_keeps_no_other_suspect_from_running(
    deployed: Deployed, crm: HttpReceiver
) -> None:
    for name in ("crm", "other"):
        await set_endpoint(deployed, name, crm.url)
    [waits], [runs] = await deliver(deployed, "crm"), await deliver(deployed, "other")
    suspect = "update crontick.unfinished_jobs set held_by = 'suspect', due_at = 'infinity' where id = any(%s)"
    await deployed.conn.execute(suspect, ([waits, runs],))
    await deployed.conn.execute("select crontick.pause('endpoint', 'crm', 'ann')")
    await deployed.tick()
    assert [(await deployed.job(job))["status"] for job in (waits, runs)] == ["queued", "succeeded"]


async def test_a_secret_that_a_receiver_gives_back_is_not_kept(deployed: Deployed, crm: HttpReceiver) -> None:
    secret = await set_endpoint(deployed, "crm", crm.url) or ""
    crm.answers.append(Answer(500, body=f"bad secret {secret}".encode()))
    [job] = await deliver(deployed)
    await deployed.tick()
    assert (await deployed.job(job))["last_error"] == "Retry: 500 from 127.0.0.1: bad secret [redacted]"


async def test_a_held_head_of_a_group_keeps_its_followers_in_order(deployed: Deployed, crm: HttpReceiver) -> None:
    await set_endpoint(deployed, "crm", crm.url)
    await deployed.conn.execute("select crontick.pause('endpoint', 'crm', 'ann')")
    payloads = [DeliverWebhook(endpoint="crm", body=nth) for nth in range(3)]
    jobs = await deliver_webhook.enqueue_many(deployed.conn, payloads, group_key="user:7")
    await deployed.tick()
    assert [(await deployed.job(job))["held_by"] for job in jobs] == ["endpoint:crm", "group", "group"]
    await deployed.conn.execute("select crontick.resume('endpoint', 'crm', 'ann')")
    await deployed.tick()
    assert [request.body for request in crm.requests] == [b"0", b"1", b"2"]


async def test_a_410_whose_settle_was_answered_to_nobody_disables_once(deployed: Deployed, proxy: Proxy) -> None:
    await deployed.tick()  # makes the kinds known
    settings = replace(deployed.deployment.settings, database_url=proxy.url)
    deployed.deployment = msgspec.structs.replace(deployed.deployment, settings=settings)

    async def gone(writer: asyncio.StreamWriter) -> None:
        proxy.lose_next_answer = True
        writer.write(status(410))

    async with receiver() as made:
        made.answers = [gone]
        await set_endpoint(deployed, "crm", f"http://127.0.0.1:{made.port}/")
        [job] = await deliver(deployed)
        summary = await deployed.tick()
    assert (summary.dead, summary.lost) == (1, 0)
    assert (await deployed.job(job))["status"] == "dead"
    assert await one(deployed, "select count(*) from crontick.audit where action = 'disable'") == 1


CROWD = """
insert into crontick.unfinished_jobs (kind, queue, priority, run_at, due_at, created_at, updated_at, payload, held_by)
select 'deliver_webhook', 'default', 0, now(), 'infinity', now(), now(), '{"endpoint": "gone"}', 'endpoint:gone'
from generate_series(1, 20000)
"""


async def test_opening_an_endpoint_walks_over_no_other_ones_jobs(deployed: Deployed) -> None:
    """Nor does a call for the crowded one, which is paused, touch its rows."""
    await deployed.conn.execute(CROWD.encode())
    await deployed.conn.execute("analyze crontick.unfinished_jobs")
    await set_endpoint(deployed, "gone", "https://gone.example/hook")
    await set_endpoint(deployed, "crm", "https://crm.example/hook")
    await deployed.conn.execute(
        "select crontick.pause('endpoint', name, 'ann') from unnest(array['gone', 'crm']) as n (name)"
    )
    await deployed.conn.execute("insert into crontick.endpoint_calls values ('gone')")
    await deployed.conn.execute("select crontick.resume('endpoint', 'crm', 'ann')")
    await deployed.conn.execute("set enable_seqscan = off; set enable_bitmapscan = off")
    await one(deployed, "select crontick.free_endpoints()")  # a new backend reads its catalogues first
    await deployed.conn.execute("insert into crontick.endpoint_calls values ('gone'), ('crm')")
    explain = "explain (analyze, buffers, format json) select crontick.free_endpoints()"
    top = (await one(deployed, explain))[0]["Plan"]
    assert top["Shared Hit Blocks"] + top["Shared Read Blocks"] < 200


ROOT = Path(__file__).parents[2]


async def test_the_readmes_example_runs(deployed: Deployed) -> None:
    [example] = re.findall(r"```sql\n([^`]*set_endpoint[^`]*)```", (ROOT / "README.md").read_text())
    await deployed.conn.execute(example.encode())
    waiting = "select payload -> 'body' ->> 'type' from crontick.jobs where kind = 'deliver_webhook'"
    assert await one(deployed, waiting) == "user.created"
    assert await one(deployed, "select host from crontick.endpoints where name = 'crm'") == "crm.example"


async def test_the_examples_of_the_longer_page_run(deployed: Deployed) -> None:
    section = (ROOT / "docs" / "kinds.md").read_text().partition("## Webhooks")[2]
    for example in re.findall(r"```sql\n([^`]*)```", section):
        await deployed.conn.execute(example.encode())
    assert await one(deployed, "select count(*) from crontick.endpoints") == 0
