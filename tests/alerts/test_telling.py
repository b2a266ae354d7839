"""Channels: what each is told, in which form, and what becomes of what it does not take."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crontick.jobs.alerts.message import Message
from crontick.jobs.alerts.webhook import request
from tests.alerts.conftest import Alarmed
from tests.alerts.test_conditions import KINDS, die
from tests.worlds.http_receiver import Answer
from tests.worlds.resend_stub import API_KEY, CUT, resend_stub
from tests.worlds.smtp_sink import SmtpSink

pytestmark = pytest.mark.anyio

AT = datetime(2026, 11, 30, 14, 5, tzinfo=UTC)


def message(**said: Any) -> Message:
    known: dict[str, Any] = {
        "alert": 1,
        "channel": "hook",
        "event": "started",
        "name": "breaker_open",
        "subject": "endpoint:crm",
        "since": AT,
        "ended_at": None,
        "counted": 3,
        "what": "<!channel> @everyone \x1b[31mcrm\u202e keeps failing",
        "mend": "crontick breakers",
        "error": "secret words",
        "job": 991,
    }
    return Message(**{**known, **said})


def test_slack_and_what_takes_the_same_get_text_in_which_nothing_is_markup() -> None:
    body, headers = request("https://hooks.slack.com/services/x", message(), "https://app.example")
    text = json.loads(body)["text"]
    assert headers["content-type"] == "application/json"
    assert text.splitlines() == [
        "*breaker_open: &lt;!channel&gt; @everyone [31mcrm keeps failing*",
        "`crontick breakers`",
        "since 2026-11-30 14:05 UTC, count 3",
        "first job: 991",
        "https://app.example/dashboard",
        "https://github.com/crontick/crontick/blob/main/docs/runbook.md#breaker-open",
    ]


def test_discord_gets_content_that_calls_nobody() -> None:
    body, _ = request("https://discord.com/api/webhooks/1/x", message(), None)
    told = json.loads(body)
    assert told["allowed_mentions"] == {"parse": []}
    assert told["content"].startswith(r"**breaker\_open: <!channel\> \@everyone")


def test_ntfy_gets_plain_text_with_a_title() -> None:
    body, headers = request("https://ntfy.sh/topic", message(event="ended", ended_at=AT), None)
    assert headers["title"] == "crontick: breaker_open is over"
    assert b"since 2026-11-30 14:05 UTC until 2026-11-30 14:05 UTC" in body


@pytest.mark.parametrize(
    "url", ["https://hooks.slack.com/x", "https://discord.com/api/webhooks/x", "https://ntfy.sh/x"]
)
def test_no_text_of_an_error_goes_where_many_may_read(url: str) -> None:
    body, headers = request(url, message(), None)
    assert "secret words" not in f"{body!r}{headers}"


async def test_a_channel_that_is_down_is_tried_later_and_told_once(world: Alarmed) -> None:
    world.receiver.otherwise = Answer(status=500)
    await die(world)
    assert len(world.heard) == 1
    await world.tick(*KINDS)
    assert len(world.heard) == 1, "not before its time"
    assert await world.one("select error from crontick.alert_messages where error is not null") == "500 from 127.0.0.1"
    await world.later(61)
    await world.tick(*KINDS)
    world.receiver.otherwise = Answer()
    for _ in range(5):
        await world.later(121)
        await world.tick(*KINDS)
    assert len(world.heard) == 3
    assert await world.one("select count(*) from crontick.alert_messages where told_at is null") == 0


async def test_a_channel_that_was_down_hears_the_start_before_the_end(world: Alarmed) -> None:
    world.receiver.otherwise = Answer(status=500)
    await die(world)
    world.receiver.otherwise = Answer()
    world.receiver.requests.clear()
    await world.rows("select crontick.ignore(id, 'me', 'seen') from crontick.dead_letters")
    await world.tick(*KINDS)  # the end could go out at once, the start is tried again in a minute
    for _ in range(3):
        await world.later(300)
        await world.tick(*KINDS)
    assert [line.split(":")[0] for line in world.heard] == ["dead_letters", "dead_letters is over"]


@pytest.mark.parametrize("answer", [Answer(hang=True), Answer(close=True)], ids=["is silent", "hangs up"])
async def test_a_channel_that_does_not_answer_harms_no_tick(world: Alarmed, answer: Answer) -> None:
    world.receiver.otherwise = answer
    world.settings |= {"budget_seconds": 2, "max_budget_seconds": 2}
    await die(world)
    assert await world.counts() == {"dead": 1}
    assert await world.one("select tries from crontick.alert_messages where channel <> 'log'") == 1


async def test_a_silenced_alert_is_told_to_nobody_until_the_silence_is_over(world: Alarmed) -> None:
    await world.rows("select crontick.silence_alert('dead_letters', 600, 'me', 'known')")
    await die(world)
    summary = await world.tick(*KINDS)
    assert (world.heard, [one for one in summary.warnings if "dead_letters" in one]) == ([], [])
    await world.later(601)
    await world.tick(*KINDS)
    assert [line.split(":")[0] for line in world.heard] == ["dead_letters"]


async def test_what_ends_while_it_is_silenced_is_never_told(world: Alarmed) -> None:
    await world.rows("select crontick.silence_alert('dead_letters', 600, 'me', 'known')")
    await die(world)
    await world.rows("select crontick.ignore(id, 'me', 'seen') from crontick.dead_letters")
    await world.tick(*KINDS)
    await world.later(601)
    await world.tick(*KINDS)
    assert (await world.active(), world.heard) == ([], [])


async def test_mail_has_the_first_error_and_goes_to_each_recipient(
    world: Alarmed, smtp_sink: SmtpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    (tmp_path / "crontick.toml").write_text(
        '[email]\nurl_env = "SMTP_URL"\nfrom = "hi@acme.example"\n'
        '[alerts]\nemail = ["ann@acme.example", "bob@acme.example"]\n'
    )
    world.settings["config_path"] = tmp_path / "crontick.toml"
    await die(world)
    [mail] = smtp_sink.mails
    assert mail.recipients == ("ann@acme.example", "bob@acme.example")
    assert mail.message["Subject"].startswith("crontick: dead_letters: a job died within an hour")
    assert "first error: Permanent: the receiver said: secret words" in mail.message.get_content()
    assert mail.message["Auto-Submitted"] == "auto-generated"


async def test_mail_over_resend_arrives_once_also_where_its_answer_was_lost(
    world: Alarmed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESEND_API_KEY", API_KEY)
    with resend_stub() as stub:
        (tmp_path / "crontick.toml").write_text(
            '[email]\nprovider = "resend"\napi_key_env = "RESEND_API_KEY"\nfrom = "hi@acme.example"\n'
            f'base_url = "{stub.base_url}"\n[alerts]\nemail = "ann@acme.example"\n'
        )
        world.settings["config_path"] = tmp_path / "crontick.toml"
        stub.answers.append(CUT)
        await die(world)
        await world.later(61)
        await world.tick(*KINDS)
        [mail], [first, again] = stub.mails, stub.requests
    assert first == again  # one key, and the same bytes
    assert mail["to"] == ["ann@acme.example"]
    assert mail["subject"].startswith("crontick: dead_letters: a job died within an hour")
    assert "first error: Permanent: the receiver said: secret words" in mail["text"]
    assert await world.rows("select told_at is null from crontick.alert_messages where channel = 'email'") == [(False,)]


async def test_mail_that_is_refused_is_tried_later(
    world: Alarmed, smtp_sink: SmtpSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SMTP_URL", smtp_sink.url)
    (tmp_path / "crontick.toml").write_text(
        '[email]\nurl_env = "SMTP_URL"\nfrom = "hi@acme.example"\n[alerts]\nemail = "ann@acme.example"\nlog = false\n'
    )
    world.settings["config_path"] = tmp_path / "crontick.toml"
    smtp_sink.replies["DATA"].append("451 4.3.0 later")
    await die(world)
    assert smtp_sink.mails == []
    await world.later(61)
    await world.tick(*KINDS)
    assert len(smtp_sink.mails) == 1
