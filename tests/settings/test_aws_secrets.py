"""Secrets come from AWS's extension where a variable's ``…_FROM`` points there, within bounds, and none is quoted."""

import threading
from pathlib import Path

import psycopg
import pytest

from crontick.jobs import aws_extension as extension_client
from crontick.jobs import process_jobs
from crontick.jobs.deployment import load_deployment
from crontick.jobs.redact import Redactor
from crontick.jobs.secrets import read_secret
from crontick.jobs.settings import Settings, SettingsError
from crontick.jobs.tick_secrets import TickSecrets
from tests.worlds.aws_extension import AwsExtension
from tests.worlds.http_receiver import HttpReceiver

ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:app/cron-a1b2c3"
SECRET = "3f9b1c0de7a24586b1f03f9b1c0de7a2"


def read(extension: AwsExtension, source: str) -> str | None:
    return read_secret({**extension.environ, "CRON_SECRET_FROM": source}, "CRON_SECRET")


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (f"aws-secretsmanager:{ARN}", '{"cron": "' + SECRET + '", "port": 5432}'),
        (f"aws-secretsmanager:{ARN}#cron", SECRET),
        (f"aws-secretsmanager:{ARN}#port", "5432"),
        ("aws-secretsmanager:app/plain & odd", "of text"),
        ("aws-ssm:/app/cron secret", SECRET),
        ("aws-ssm:/app/cron secret:3", "of version 3"),
    ],
)
def test_a_secret_is_fetched(extension: AwsExtension, source: str, value: str) -> None:
    extension.secrets = {ARN: f'{{"cron": "{SECRET}", "port": 5432}}', "app/plain & odd": " of text\n"}
    extension.parameters = {"/app/cron secret": SECRET, "/app/cron secret:3": "of version 3"}
    assert read(extension, source) == value


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("aws-secretsmanager:app/missing", "answered 400: is the name right, and may the function's role read it"),
        ("aws-ssm:/missing", "answered 400: is the name right"),
        ("aws-secretsmanager:app/json#missing", "the secret has no text called missing"),
        ("aws-secretsmanager:app/json#nested", "the secret has no text called nested"),
        ("aws-secretsmanager:app/text#key", "the secret is no JSON object"),
        ("aws-secretsmanager:app/binary", "the secret is binary: keep it as text"),
        ("aws-secretsmanager:app/empty", "what it names is empty"),
        ("aws-secretsmanager:", "name what is to be fetched"),
        ("aws-kms:hunter2", "must be file:/path, aws-secretsmanager:ARN"),
    ],
)
def test_what_cannot_be_fetched_is_told_with_the_mend(extension: AwsExtension, source: str, why: str) -> None:
    extension.secrets = {"app/json": '{"nested": {}, "other": "hunter2"}', "app/text": "hunter2"}
    extension.secrets |= {"app/binary": None, "app/empty": " "}
    with pytest.raises(ValueError, match=r"^CRON_SECRET_FROM: ") as raised:
        read(extension, source)
    assert why in str(raised.value)
    assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (400, b"not ready to serve traffic, please wait", "answers inside an invocation only"),
        (401, b"hunter2", "answered 401"),
        (500, b"hunter2", "answered 500"),
        (200, b"hunter2", "answered otherwise than AWS documents it"),
        (200, b'{"SecretString": ["hunter2"]}', "answered otherwise than AWS documents it"),
        (200, b" " * 200_000, "sent no whole answer of 131072 bytes at most"),
    ],
)
def test_an_answer_that_is_none_is_told_without_its_text(
    extension: AwsExtension, status: int, body: bytes, why: str
) -> None:
    extension.answer = status, body
    with pytest.raises(ValueError, match=why) as raised:
        read(extension, f"aws-secretsmanager:{ARN}")
    assert "hunter2" not in str(raised.value)


def test_an_extension_that_says_nothing_is_not_waited_for_for_ever(
    extension: AwsExtension, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extension_client, "SECONDS", 0.2)
    extension.silent = threading.Event()
    with pytest.raises(ValueError, match="did not answer"):
        read(extension, f"aws-secretsmanager:{ARN}")


def test_without_the_extension_the_mend_is_told(extension: AwsExtension) -> None:
    environ = {"CRON_SECRET_FROM": f"aws-secretsmanager:{ARN}"}
    with pytest.raises(ValueError, match="on Lambda only, and AWS_SESSION_TOKEN is not set: use file:/path here"):
        read_secret(environ, "CRON_SECRET")
    nobody = {**environ, "AWS_SESSION_TOKEN": "x", "PARAMETERS_SECRETS_EXTENSION_HTTP_PORT": "1"}
    with pytest.raises(ValueError, match="nothing listens on port 1: add AWS's layer"):
        read_secret(nobody, "CRON_SECRET")
    with pytest.raises(ValueError, match="HTTP_PORT is no port"):
        read_secret({**nobody, "PARAMETERS_SECRETS_EXTENSION_HTTP_PORT": "99999"}, "CRON_SECRET")


def test_no_proxy_sees_the_token(extension: AwsExtension, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    extension.parameters = {"/cron": SECRET}
    assert read(extension, "aws-ssm:/cron") == SECRET


def test_database_urls_and_doors_may_come_from_aws(extension: AwsExtension) -> None:
    extension.secrets = {"app": f'{{"url": "postgres://app:hunter2@db/app", "cron": "{SECRET}"}}'}
    settings = Settings.from_environ(
        {
            **extension.environ,
            "DATABASE_URL_FROM": "aws-secretsmanager:app#url",
            "CRON_SECRET_FROM": "aws-secretsmanager:app#cron",
        }
    )
    assert (settings.database_url, settings.cron_secrets) == ("postgresql://app:hunter2@db/app", (SECRET,))
    own = {**extension.environ, "CRONTICK_DATABASE_URL_FROM": "aws-secretsmanager:app#url"}
    assert Settings.from_environ(own).migrate_url == "postgresql://app:hunter2@db/app"
    with pytest.raises(SettingsError, match="CRONTICK_DATABASE_URL is JSON, not a URL: name the field"):
        Settings.from_environ({**own, "CRONTICK_DATABASE_URL_FROM": "aws-secretsmanager:app"})


CONFIG = """
[[webhook_endpoint]]
name = "crm"
url = "URL"
secret_env = "CRM_SECRET"

[http]
allow = ["127.0.0.1"]
"""


async def test_a_tick_reads_a_secret_once_and_the_next_one_its_new_value(
    extension: AwsExtension,
    database: str,
    sync_conn: psycopg.Connection[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    http_receiver: HttpReceiver,
) -> None:
    config = tmp_path / "crontick.toml"
    config.write_text(CONFIG.replace("URL", http_receiver.url))
    for name, value in {**extension.environ, "CRM_SECRET_FROM": "aws-ssm:/crm"}.items():
        monkeypatch.setenv(name, value)
    extension.parameters = {"/crm": "whsec_" + "b25lb25lb25lb25lb25lb25lb25lb25l"}
    deployment = load_deployment(Settings(database_url=database, environment="test", config_path=config))
    assert deployment.redact("b25lb25lb25lb25lb25lb25lb25lb25l") == "[redacted]"
    extension.parameters = {"/crm": "whsec_" + "dHdvdHdvdHdvdHdvdHdvdHdvdHdvdHdv"}
    for _ in range(2):
        extension.asked.clear()
        deliver = 'select crontick.enqueue(\'deliver_webhook\', \'{"endpoint": "crm", "body": {}}\')'
        sync_conn.execute(f"{deliver} from generate_series(1, 3)".encode())
        summary = await process_jobs(deployment=deployment)
        assert (summary.succeeded, len(extension.asked)) == (3, 1), summary
    assert deployment.redact("dHdvdHdvdHdvdHdvdHdvdHdvdHdvdHdv b25lb25lb25lb25lb25lb25lb25lb25l") == (
        "[redacted] [redacted]"
    )


def test_a_tick_asks_once_for_a_secret_that_cannot_be_had(
    extension: AwsExtension, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**extension.environ, "CRM_SECRET_FROM": "aws-ssm:/crm"}.items():
        monkeypatch.setenv(name, value)
    secrets = TickSecrets(Redactor(()))
    for _ in range(2):
        with pytest.raises(LookupError, match="CRM_SECRET_FROM: AWS's extension answered 400"):
            secrets.read("CRM_SECRET")
    assert len(extension.asked) == 1
