"""What crontick.toml says of reminders and limits stands on the page, beside what became of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

from crontick.handler.front import front_door
from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from tests.dashboard.acme import resize_image, send_receipt
from tests.dashboard.asking import Asker
from tests.door.serving import SETTINGS, served
from tests.worlds.background import background

CONFIG = """
[[reminder]]
name = "booking"
lead = "24h"
kind = "send_receipt"
query = '''select item, pg_postmaster_start_time() + at as item_at, '{"order_id": 7}'::jsonb as payload
           from (values ('near', interval '12 hours'), ('far', interval '30 hours')) as b (item, at)
           where :from < :to'''

[[reminder]]
name = "broken"
lead = "24h"
kind = "send_receipt"
query = "select * from nowhere"

[limits.images]
queue = "images"
rate = "2/hour"

[limits.orders]
kind = "send_receipt"
key = "payload.order_id"
concurrency = 3
"""


@dataclass(slots=True)
class Configured:
    """Its page, its database, and ``tick``."""

    asker: Asker
    conn: psycopg.Connection[Any]
    deployment: Deployment

    def tick(self) -> None:
        with background() as thread:
            thread.run(run_tick(self.deployment, TickRequest()))

    def page(self, path: str) -> str:
        answer = self.asker.get(f"/dashboard/{path}")
        assert answer.status == 200, answer.body
        return " ".join(answer.body.decode().split())


@pytest.fixture
def configured(database: str, sync_conn: psycopg.Connection[Any], tmp_path: Path) -> Iterator[Configured]:
    config = tmp_path / "crontick.toml"
    config.write_text(CONFIG)
    settings = msgspec.structs.replace(SETTINGS, database_url=database, environment="test", config_path=config)
    deployment = load_deployment(settings, kinds=[send_receipt, resize_image])
    with served(front_door(settings, lambda: deployment)) as address:
        asker = Asker(address)
        asker.log_in()
        yield Configured(asker, sync_conn, deployment)


def test_a_reminder_is_shown_with_what_it_sent_and_what_it_would_send(configured: Configured) -> None:
    assert '<td data-th="sent">0</td>' in configured.page("reminders")
    configured.tick()
    told = configured.page("reminders")
    assert '<td data-th="sent">1</td>' in told
    assert "send_receipt" in told
    previewed = configured.page("reminders/preview?name=booking")
    assert ("far" in previewed, "near" in previewed) == (True, False)  # that one is recorded
    assert "later" in previewed
    assert "nowhere" in configured.page("reminders/preview?name=broken")
    assert configured.asker.get("/dashboard/reminders/preview?name=none").status == 404


def test_every_limit_is_shown_with_its_room_whether_or_not_jobs_wait(configured: Configured) -> None:
    told = configured.page("limits")
    assert "queue images" in told
    assert "2 an hour" in told
    assert '<td data-th="may start now">2 of 2</td>' in told
    assert "not drawn from yet" in told  # orders: it has a line for each
    configured.conn.execute(
        "select crontick.enqueue('resize_image', '{\"order_id\": 1}', queue => 'images') from generate_series(1, 3)"
    )
    configured.tick()
    told = configured.page("limits")
    assert '<td data-th="may start now">0 of 2</td>' in told
    assert '<td data-th="waiting">1</td>' in told
    assert "kind send_receipt, each order_id" in told


def test_a_job_shows_what_people_did_to_it(configured: Configured) -> None:
    [(job,)] = configured.conn.execute(
        "select crontick.enqueue('send_receipt', '{\"order_id\": 1}', crontick.now() + interval '1 day')"
    ).fetchall()
    assert "What people did to it" not in configured.page(f"jobs/{job}")
    configured.conn.execute("select crontick.run_now(%s, 'bo', 'they asked for it')", (job,))
    told = configured.page(f"jobs/{job}")
    assert ("they asked for it" in told, "What people did to it" in told) == (True, True)
