"""The kinds that ship have the numbers that are documented, and cost a tick nothing that does not use them."""

import subprocess
import sys
from typing import Any

import pytest

from crontick.jobs.deployment import load_deployment
from crontick.jobs.kinds import shipped
from crontick.jobs.kinds.send_email import send_email
from crontick.jobs.payload import PayloadError
from crontick.jobs.settings import Settings


def test_their_numbers() -> None:
    told = {
        kind.name: (kind.queue, kind.priority, kind.timeout_seconds, kind.needs_seconds, kind.max_attempts)
        for kind in shipped()
    }
    assert told == {
        "send_email": ("mail", 10, 15, 8, 5),
        "deliver_webhook": ("default", 0, 8, 6, 8),
        "generate_report": ("slow", -10, 20, 10, 3),
        "run_sql": ("slow", -10, 20, 10, 3),
    }


def test_a_mails_attempts_are_after_1_5_and_30_minutes_and_2_hours() -> None:
    assert [send_email.backoff.seconds(attempt) for attempt in range(1, 5)] == [60, 300, 1800, 7200]


@pytest.mark.parametrize("policy", ["park", "resend", "skip"])
def test_the_policy_for_mail_in_doubt_is_the_configurations(tmp_path: Any, policy: str) -> None:
    config = tmp_path / "crontick.toml"
    config.write_text(f'[email]\nurl_env = "SMTP_URL"\nfrom = "hi@acme.example"\nin_doubt = "{policy}"\n')
    deployment = load_deployment(Settings(config_path=config))
    assert deployment.kinds["send_email"].in_doubt == policy


def test_what_a_tick_may_not_need_is_not_imported() -> None:
    code = (
        "import sys, crontick.jobs, crontick.jobs.process, crontick.jobs.deployment as d\n"
        "from crontick.jobs.settings import Settings\n"
        "d.load_deployment(Settings())\n"
        "heavy = ['httpx', 'httpcore', 'jinja2', 'aiosmtplib', 'pydantic', 'idna', 'email.policy', 'email.mime.text']\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    assert said.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"text": "x"},
        {"subject": "x"},
        {"subject": "x", "text": None, "html": None},
        {"template": "a", "text": "x"},
        {"subject": "x", "text": "x", "to": []},
        {"subject": "x", "text": "x", "to": [f"x{nth}@example.com" for nth in range(51)]},
        {"subject": "x", "text": "x", "cc": [f"x{nth}@example.com" for nth in range(50)]},
        {"subject": "x", "text": "x", "headers": {"Bcc": "eve@example.net"}},
        {"subject": "x", "text": "x", "headers": {"X-Tag\nBcc": "eve@example.net"}},
        {"subject": "x", "text": "x", "to": 7},
        {"subject": "x", "text": "x", "attachments": ["/etc/passwd"]},
        {"subject": "x", "text": "x", "attachments": [{"name": "x.pdf"}]},
        {"subject": "x", "text": "x", "attachments": [{"url": "https://a.example/x", "file": "x.pdf"}]},
        {"subject": "x", "text": "x", "attachments": [{"url": "https://a.example/x"}]},
        {"subject": "x", "text": "x", "attachments": [{"file": "x", "name": 'a"\r\nX: y.pdf'}]},
        {"subject": "x", "text": "x", "attachments": [{"file": "x", "content_type": "message/rfc822"}]},
        {"subject": "x", "text": "x", "attachments": [{"file": "x"}] * 21},
        {"subject": "x\0", "text": "x"},
    ],
)
def test_a_mail_that_cannot_be_sent_is_refused_when_it_is_enqueued(wrong: dict[str, Any]) -> None:
    with pytest.raises(PayloadError):
        send_email.order({"to": "a@example.com", **wrong})  # type: ignore[arg-type]
