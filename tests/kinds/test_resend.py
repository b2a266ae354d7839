"""Over Resend's API a mail is sent once, also where its answer was lost: it is repeated under one key."""

import hashlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from crontick.jobs.kinds.addresses import Address
from crontick.jobs.kinds.send_email import SendEmail, send_email
from crontick.jobs.request import TickRequest
from tests.kinds.conftest import Deployed
from tests.worlds.resend_stub import API_KEY, CUT, LOST, SILENCE, ResendStub, resend_stub

HI = SendEmail(to="ann@example.com", subject="Hi", text="Hello")
CONFIG = """[email]
provider = "resend"
api_key_env = "RESEND_API_KEY"
base_url = "{stub.base_url}"
from = "Acme <hi@acme.example>"
"""
Deploy = Callable[[str], Deployed]


@pytest.fixture
def stub(monkeypatch: pytest.MonkeyPatch) -> Iterator[ResendStub]:
    monkeypatch.setenv("RESEND_API_KEY", API_KEY)
    with resend_stub() as made:
        yield made


@pytest.fixture
def deployed(deploy: Deploy, stub: ResendStub) -> Deployed:
    return deploy(CONFIG.format(stub=stub))


async def marker(deployed: Deployed) -> Any:
    """State, provider and message id of the only marker."""
    cursor = await deployed.conn.execute("select state, provider, provider_message_id from crontick.markers")
    rows = await cursor.fetchall()
    assert len(rows) <= 1
    return rows[0] if rows else None


async def test_a_mail_is_what_was_meant_and_its_id_is_kept(deployed: Deployed, stub: ResendStub) -> None:
    mail = SendEmail(
        to=(Address("jane@example.com", "Doe, Jane"), "info@bücher.example"),
        cc=("c@example.com",),
        bcc=("b@example.com",),
        reply_to="r@example.com",
        subject="Übung 🎉",
        html="<p>Hi</p>",
        headers={"List-Id": "<news.acme.example>"},
    )
    job = await deployed.enqueue(send_email, mail)
    await deployed.tick()
    assert stub.mails == [
        {
            "from": '"Acme" <hi@acme.example>',
            "to": ['"Doe, Jane" <jane@example.com>', "info@xn--bcher-kva.example"],
            "cc": ["c@example.com"],
            "bcc": ["b@example.com"],
            "reply_to": ["r@example.com"],
            "subject": "Übung 🎉",
            "html": "<p>Hi</p>",
            "headers": {"List-Id": "<news.acme.example>"},
        }
    ]
    assert await marker(deployed) == ("sent", "resend", "id-1")
    [attempt] = await deployed.attempts(job)
    assert (attempt["outcome"], attempt["provider_message_id"]) == ("succeeded", "id-1")
    assert stub.requests[0][0] == hashlib.sha256(f"send_email:job:{job}".encode()).hexdigest()


@pytest.mark.parametrize("lost", [CUT, LOST])
async def test_an_answer_that_was_lost_is_asked_for_again_under_the_same_key(
    deployed: Deployed, stub: ResendStub, lost: str
) -> None:
    stub.answers.append(lost)
    job = await deployed.enqueue(send_email, HI)
    summary = await deployed.tick()
    assert (summary.failed, await marker(deployed)) == (1, ("in_doubt", "resend", None))
    assert summary.as_dict()["errors"][0]["error"] == "the answer broke off from 127.0.0.1"
    await deployed.later(timedelta(minutes=2))
    await deployed.tick()
    assert ((await deployed.job(job))["status"], await marker(deployed)) == ("succeeded", ("sent", "resend", "id-1"))
    assert (len(stub.mails), len(set(stub.requests)), len(stub.requests)) == (1, 1, 2)


@pytest.mark.parametrize(("policy", "status"), [("park", "dead"), ("skip", "succeeded")])
async def test_a_day_later_the_key_is_forgotten_and_the_policy_decides(
    deploy: Deploy, stub: ResendStub, policy: str, status: str
) -> None:
    deployed = deploy(CONFIG.format(stub=stub) + f'in_doubt = "{policy}"\n')
    stub.answers.append(CUT)
    job = await deployed.enqueue(send_email, HI)
    await deployed.tick()
    await deployed.later(timedelta(hours=23, seconds=1))
    await deployed.tick()
    assert ((await deployed.job(job))["status"], len(stub.requests)) == (status, 1)
    assert await marker(deployed) == ("in_doubt", "resend", None)


async def test_a_failure_to_repeat_leaves_the_doubt_as_old_as_it_was(deployed: Deployed, stub: ResendStub) -> None:
    stub.answers.extend([CUT, (503, "service_unavailable", {})])
    job = await deployed.enqueue(send_email, HI)
    await deployed.tick()
    await deployed.later(timedelta(hours=20))
    assert ((await deployed.tick()).failed, await marker(deployed)) == (1, ("in_doubt", "resend", None))
    await deployed.later(timedelta(hours=4))
    await deployed.tick()
    assert ((await deployed.job(job))["status"], len(stub.requests)) == ("dead", 2)


@pytest.mark.parametrize(("policy", "mails"), [("park", ["Hi 1"]), ("skip", ["Hi 1"]), ("resend", ["Hi 1", "Hi 2"])])
async def test_in_doubt_another_text_than_before_goes_out_only_if_the_policy_says_so(
    deploy: Deploy, stub: ResendStub, tmp_path: Path, policy: str, mails: list[str]
) -> None:
    deployed = deploy(CONFIG.format(stub=stub) + f'in_doubt = "{policy}"\ntemplates = "{tmp_path}"\n')
    (tmp_path / "hi.txt").write_text("Hello")
    stub.answers.append(CUT)
    await deployed.enqueue(send_email, SendEmail(to="ann@example.com", template="hi"))
    for nth in (1, 2):
        (tmp_path / "hi.subject.txt").write_text(f"Hi {nth}")
        await deployed.tick()
        await deployed.later(timedelta(minutes=10))
    assert [mail["subject"] for mail in stub.mails] == mails
    assert len(stub.requests) == len(mails)
    assert (await marker(deployed))[0] == ("sent" if policy == "resend" else "in_doubt")


async def test_two_mails_in_doubt_under_one_marker_each_keep_their_key(
    deploy: Deploy, stub: ResendStub, tmp_path: Path
) -> None:
    deployed = deploy(CONFIG.format(stub=stub) + f'in_doubt = "resend"\ntemplates = "{tmp_path}"\n')
    (tmp_path / "hi.txt").write_text("Hello")
    job = await deployed.enqueue(send_email, SendEmail(to="ann@example.com", template="hi"))
    stub.answers.extend([CUT, CUT, CUT])
    for nth in (1, 2, 1, 2):
        (tmp_path / "hi.subject.txt").write_text(f"Hi {nth}")
        await deployed.tick()
        await deployed.later(timedelta(hours=3))
    assert [mail["subject"] for mail in stub.mails] == ["Hi 1", "Hi 2"]
    keys = [key for key, _ in stub.requests]
    assert (keys[0], keys[1]) == (keys[2], keys[3])
    assert (await deployed.job(job))["status"] == "succeeded"


@pytest.mark.parametrize(("policy", "mails"), [("park", ["Hi 1"]), ("resend", ["Hi 1", "Hi 2"])])
async def test_a_key_under_which_another_mail_went_is_no_dead_end(
    deploy: Deploy, stub: ResendStub, tmp_path: Path, policy: str, mails: list[str]
) -> None:
    deployed = deploy(CONFIG.format(stub=stub) + f'in_doubt = "{policy}"\ntemplates = "{tmp_path}"\n')
    (tmp_path / "hi.txt").write_text("Hello")
    (tmp_path / "hi.subject.txt").write_text("Hi 1")
    stub.answers.append(CUT)
    await deployed.enqueue(send_email, SendEmail(to="ann@example.com", template="hi", dedupe_key="hi"))
    await deployed.tick()
    await deployed.conn.execute("delete from crontick.markers")  # as after a failover that lost it
    (tmp_path / "hi.subject.txt").write_text("Hi 2")
    await deployed.later(timedelta(minutes=10))
    await deployed.tick()
    assert [mail["subject"] for mail in stub.mails] == mails
    assert (await marker(deployed))[0] == ("sent" if policy == "resend" else "in_doubt")


@pytest.mark.parametrize(
    ("status", "name", "ends"),
    [
        (400, "validation_error", "dead"),
        (401, "missing_api_key", "failed"),
        (403, "invalid_api_key", "failed"),
        (404, "not_found", "failed"),
        (422, "validation_error", "dead"),
        (429, "daily_quota_exceeded", "failed"),
        (451, "security_error", "dead"),
        (500, "application_error", "failed"),
        (307, "", "failed"),
    ],
)
async def test_what_resend_says_decides_and_nothing_is_in_doubt(
    deployed: Deployed, stub: ResendStub, status: int, name: str, ends: str
) -> None:
    stub.answers.append((status, name, {}))
    job = await deployed.enqueue(send_email, HI)
    summary = await deployed.tick()
    found = await deployed.job(job)
    assert (found["status"], found["last_status_code"]) == (ends, status)
    assert summary.as_dict()["errors"][0]["error"].startswith(f"{status} from Resend")
    assert "hunter2" not in found["last_error"]
    assert await marker(deployed) is None


async def test_while_the_first_request_runs_on_the_key_stays_the_same(deployed: Deployed, stub: ResendStub) -> None:
    stub.answers.extend([SILENCE, (409, "concurrent_idempotent_requests", {})])
    await deployed.enqueue(send_email, HI)
    for _ in range(3):
        await deployed.tick(TickRequest(budget_seconds=2) if not stub.requests else None)
        await deployed.later(timedelta(minutes=10))
    assert (len(stub.mails), len(stub.requests), len(set(stub.requests))) == (1, 3, 1)
    assert await marker(deployed) == ("sent", "resend", "id-1")


async def test_a_limit_of_sends_a_second_is_waited_for(deployed: Deployed, stub: ResendStub) -> None:
    stub.answers.extend([(429, "rate_limit_exceeded", {"retry-after": "1"})])
    for _ in range(3):
        await deployed.enqueue(send_email, HI)
    summary = await deployed.tick()
    assert (summary.succeeded, summary.failed, len(stub.mails)) == (3, 0, 3)


async def test_a_longer_wait_is_taken_by_its_word(deployed: Deployed, stub: ResendStub) -> None:
    stub.answers.append((429, "rate_limit_exceeded", {"retry-after": "300"}))
    job = await deployed.enqueue(send_email, HI)
    await deployed.tick()
    assert 290 < await deployed.seconds_until(job) <= 300


@pytest.mark.parametrize(("status", "name"), [(403, "invalid_api_key"), (429, "monthly_quota_exceeded")])
async def test_what_holds_for_all_mails_is_asked_once(deploy: Deploy, stub: ResendStub, status: int, name: str) -> None:
    deployed = deploy(CONFIG.format(stub=stub))
    stub.answers.append((status, name, {}))
    for _ in range(4):
        await deployed.enqueue(send_email, HI)
    summary = await deployed.tick(TickRequest(limit=4))
    assert (summary.succeeded, summary.failed + summary.snoozed) == (0, 4)
    assert len(stub.requests) == 1
