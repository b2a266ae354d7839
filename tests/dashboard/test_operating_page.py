"""docs/operating.md: its path over the page, step by step as it stands there, finds and mends a dead webhook."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import psycopg
import pytest
from playwright.sync_api import Page, expect

from crontick.handler.front import front_door
from crontick.jobs.deployment import load_deployment
from tests.door.serving import ADMIN, SETTINGS, TOKEN, served
from tests.worlds.http_receiver import Answer, HttpReceiver
from tests.worlds.waiting import until

DOCUMENT = Path(__file__).parents[2] / "docs" / "operating.md"
[SECTION] = re.findall(r"^## A dead webhook, from the page\n(.*?)^## ", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
STEPS = re.findall(r"^\d\. (.*?)(?=^\d\. |\Z|\n\n)", SECTION, re.MULTILINE | re.DOTALL)
DONE = re.compile(r"(field|link|button) \*\*(.+?)\*\*")
TYPED = {"Your name": "ann", "Admin secret": ADMIN, "Reason": "they are back"}


class Live:
    """A deployment that is served, and whose customer was away."""

    def __init__(self, url: str, port: int) -> None:
        self.url = url
        self.at = f"http://127.0.0.1:{port}"

    def tick(self) -> dict[str, int]:
        answer = httpx.post(f"{self.at}/cron/tick", headers={"authorization": f"Bearer {TOKEN}"}, timeout=60)
        told: dict[str, int] = answer.raise_for_status().json()
        return told

    def none_to_come(self) -> bool:
        """Whether all copies are due: they come one after another, a tenth of a second apart."""
        with psycopg.connect(self.url) as conn:
            asked = b"select from crontick.unfinished_jobs where run_at > crontick.now()"
            return not conn.execute(asked).fetchall()


@pytest.fixture
def live(database: str, http_receiver: HttpReceiver, tmp_path: Path) -> Iterator[Live]:
    config = tmp_path / "crontick.toml"
    config.write_text('[http]\nallow = ["127.0.0.1"]\n')
    settings = msgspec.structs.replace(SETTINGS, database_url=database, environment="test", config_path=config)
    deployment = load_deployment(settings)
    with served(front_door(settings, lambda: deployment)) as (_, port):
        made = Live(database, port)
        with psycopg.connect(database, autocommit=True) as conn:
            conn.execute("select crontick.set_endpoint('crm', %s)", (f"{http_receiver.url}/hooks",))
            conn.execute(
                "select crontick.enqueue('deliver_webhook', jsonb_build_object('endpoint', 'crm', 'body', n))"
                " from generate_series(1, 3) as n"
            )
        http_receiver.otherwise = Answer(404)
        assert made.tick()["dead"] == 3
        http_receiver.otherwise = Answer(200)
        yield made


def test_the_steps_of_the_page_mend_it(live: Live, visitor: Page, http_receiver: HttpReceiver) -> None:
    assert len(STEPS) == 6
    visitor.goto(f"{live.at}/dashboard")
    for step in STEPS:
        if "next tick" in step:
            until(live.none_to_come)
            assert live.tick()["succeeded"] == 3
        for what, name in DONE.findall(step):
            if what == "field":
                visitor.get_by_label(name).fill(TYPED[name])
            else:
                visitor.get_by_role("link" if what == "link" else "button", name=name).first.click()
    waits = visitor.get_by_role("region", name="Waits for a person")
    expect(waits).to_contain_text("Nothing.")
    visitor.set_viewport_size({"width": 390, "height": 844})
    visitor.get_by_text("Menu", exact=True).click()
    expect(visitor.get_by_role("link", name="Overview")).to_be_visible()
    assert [request.target for request in http_receiver.requests[3:]] == ["/hooks"] * 3
