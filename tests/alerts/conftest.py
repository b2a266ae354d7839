"""A world whose ticks tell alerts to a receiver of the test's own."""

import json
from typing import Any

import psycopg
import pytest

from tests.engine.conftest import World
from tests.worlds.http_receiver import HttpReceiver


class Alarmed(World):
    """Its ticks post to ``receiver``; ``heard`` is what came there, ``active`` what is wrong just now."""

    receiver: HttpReceiver

    @property
    def heard(self) -> list[str]:
        """The first line of each message, without its stars."""
        return [json.loads(request.body)["text"].splitlines()[0].strip("*") for request in self.receiver.requests]

    async def active(self) -> list[tuple[str, str]]:
        asked = "select name, subject from crontick.alerts where ended_at is null order by 1, 2"
        return [(name, subject) for name, subject in await self.rows(asked)]

    async def tick_named(self, trigger: str, seconds_later: float) -> None:
        """A tick of that trigger, so much later, which did nothing."""
        await self.later(seconds_later)
        await self.rows(
            "insert into crontick.ticks (opening, started_at, deadline, lease_expires_at, ended_at, trigger)"
            " select coalesce(max(opening), 0) + 1, crontick.now(), crontick.now(), crontick.now(), crontick.now(), %s"
            " from crontick.ticks where opening < 1000000",
            trigger,
        )


@pytest.fixture
def world(database: str, conn: psycopg.AsyncConnection[Any], http_receiver: HttpReceiver) -> Alarmed:
    made = Alarmed(database, conn)
    made.receiver = http_receiver
    made.settings["alert_url"] = f"{http_receiver.url}/services/T0/B0/secret"
    return made
