"""A world whose ticks set alarms: with AWS as moto plays it, or with services of the tests' own."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from crontick.jobs.wake import arming
from tests.engine.conftest import World
from tests.wake.services import Alarms
from tests.worlds import aws_server
from tests.worlds.http_receiver import HttpReceiver

FUNCTION = "arn:aws:lambda:eu-central-1:123456789012:function:crontick"
EVENTBRIDGE = f"""
[wake]
provider = "eventbridge"
target_arn = "{FUNCTION}"
role_arn_env = "WAKE_ROLE_ARN"
"""
ROLE = "arn:aws:iam::123456789012:role/crontick-wake"


class Waking(World):
    """An environment in which alarms are set; ``configure`` says by whom."""

    config: Path

    def configure(self, text: str) -> None:
        self.config.write_text(text)
        self.settings["config_path"] = self.config

    async def now(self) -> datetime:
        return datetime.fromisoformat(await self.one("select to_json(crontick.now())::text::json #>> '{}'"))

    async def enqueue(self, seconds_ahead: float) -> int:
        text = "select crontick.enqueue('note', '{}', run_at => crontick.now() + make_interval(secs => %s))"
        return int(await self.one(text, seconds_ahead))


@pytest.fixture(scope="session")
def _aws() -> Iterator[str]:
    with aws_server.aws_server() as url:
        yield url


@pytest.fixture
def aws(_aws: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of the server that botocore calls in this test."""
    _call(_aws, monkeypatch)
    return _aws


@pytest.fixture
def played(http_receiver: HttpReceiver, monkeypatch: pytest.MonkeyPatch) -> HttpReceiver:
    """An AWS that answers as it is told."""
    _call(http_receiver.url, monkeypatch)
    return http_receiver


def _call(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in aws_server.environ(url).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WAKE_ROLE_ARN", ROLE)


@pytest.fixture
async def world(
    database: str, conn: psycopg.AsyncConnection[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Waking:
    monkeypatch.setattr(arming, "_ARMED", {})
    monkeypatch.setattr(arming, "_FAILED", {})
    await conn.execute("update crontick.installation set environment = 'staging'")
    made = Waking(database, conn)
    made.config = tmp_path / "crontick.toml"
    made.settings["environment"] = "staging"
    return made


@pytest.fixture
def alarms(http_receiver: HttpReceiver) -> Alarms:
    return Alarms(http_receiver)
