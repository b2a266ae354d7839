"""Somebody signs up while the CRM is down: one welcome, all else goes on, next morning the CRM has its event."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook

from tests.kinds.conftest import Deployed
from tests.worlds.http_receiver import Answer, HttpReceiver
from tests.worlds.http_receiver import http_receiver as another
from tests.worlds.smtp_sink import SmtpSink

pytestmark = pytest.mark.anyio

CONFIG = """
[email]
url_env = "SMTP_URL"
from = "Acme <hi@acme.example>"

[http]
allow = ["127.0.0.1"]

[[report]]
name = "sign_ups"
query = "select id, email from public.users"
key = "id"
"""
REPORT = """select crontick.enqueue('generate_report', '{"report": "sign_ups"}')"""
FILE = "select convert_from(content, 'UTF8') from crontick.report_parts where run = %s"
SIGN_UP = """
with ada as (insert into public.users (email) values ('ada@users.example') returning id, email)
select
    crontick.enqueue('send_email', jsonb_build_object(
        'to', email, 'subject', 'Welcome', 'text', 'Hello Ada', 'dedupe_key', 'welcome:' || id
    )),
    crontick.enqueue('deliver_webhook', jsonb_build_object('endpoint', 'crm', 'body', jsonb_build_object('user', id))),
    crontick.enqueue('deliver_webhook', jsonb_build_object('endpoint', 'stats', 'body', jsonb_build_object('user', id)))
from ada
"""


async def row(deployed: Deployed, text: str, *values: object) -> Any:
    found = await (await deployed.conn.execute(text.encode(), values or None)).fetchone()
    assert found is not None
    return found


async def test_a_sign_up_survives_a_night_without_its_crm(
    deploy: Callable[[str], Deployed],
    http_receiver: HttpReceiver,
    smtp_sink: SmtpSink,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SMTP_URL", f"smtp://127.0.0.1:{smtp_sink.port}")
    deployed, crm = deploy(CONFIG), http_receiver
    with another() as stats:
        await deployed.conn.execute("create table public.users (id bigint generated always as identity, email text)")
        [secret] = await row(deployed, "select crontick.set_endpoint('crm', %s)", crm.url)
        await row(deployed, "select crontick.set_endpoint('stats', %s)", stats.url)
        crm.otherwise = Answer(503, body=b"down for the night")
        mail, event, other = await row(deployed, SIGN_UP)

        await deployed.tick()
        assert [(await deployed.job(job))["status"] for job in (mail, event, other)] == [
            "succeeded",
            "failed",
            "succeeded",
        ]
        reports = []
        while (await deployed.job(event))["status"] == "failed":
            await deployed.later(timedelta(seconds=await deployed.seconds_until(event) + 1))
            reports += await row(deployed, REPORT)
            await deployed.tick()
        assert len(crm.requests) == 8
        for report in reports:
            assert (await deployed.job(report))["status"] == "succeeded"
            assert await row(deployed, FILE, report) == ("id,email\r\n1,ada@users.example\r\n",)
        together = {attempt["tick"] for attempt in await deployed.attempts(event)}
        assert {(await deployed.job(report))["claimed_by"] for report in reports} & together

        seen = "select attempt, last_status_code, last_error from crontick.dead_letters where id = %s"
        assert await row(deployed, seen, event) == (8, 503, "Retry: 503 from 127.0.0.1: down for the night")
        assert [attempt["status_code"] for attempt in await deployed.attempts(event)] == [503] * 8

        await deployed.later(timedelta(hours=8))
        crm.otherwise = Answer(200)
        [copy] = await row(deployed, "select crontick.requeue(%s, 'ann', 'the CRM is back')", event)
        await deployed.tick()
        assert (await deployed.job(copy))["status"] == "succeeded"

    assert {request.headers["webhook-id"] for request in crm.requests} == {f"job-{event}"}
    for request in crm.requests:
        assert Webhook(secret).verify(request.body, request.headers) == {"user": 1}
    assert [request.headers["webhook-id"] for request in stats.requests] == [f"job-{other}"]
    assert [message.recipients for message in smtp_sink.mails] == [("ada@users.example",)]


async def test_a_copy_of_a_copy_has_the_id_of_the_first(
    deploy: Callable[[str], Deployed], http_receiver: HttpReceiver
) -> None:
    deployed = deploy(CONFIG)
    http_receiver.otherwise = Answer(400)
    await row(deployed, "select crontick.set_endpoint('crm', %s)", http_receiver.url)
    [job] = await row(deployed, """select crontick.enqueue('deliver_webhook', '{"endpoint": "crm", "body": 1}')""")
    first = job
    for _ in range(3):
        await deployed.tick()
        [job] = await row(deployed, "select crontick.requeue(%s, 'ann')", job)
    assert [request.headers["webhook-id"] for request in http_receiver.requests] == [f"job-{first}"] * 3
