"""What README and docs/kinds.md show of reports works as it stands there."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crontick.jobs.deployment import load_deployment
from crontick.jobs.kinds.signature import new_secret
from crontick.jobs.process import run_tick
from crontick.jobs.request import TickRequest
from crontick.jobs.settings import Settings
from tests.reports.conftest import Reports

ROOT = Path(__file__).parents[2]


def piece(document: str, heading: str, language: str) -> str:
    """The first example in that language below the heading."""
    section = (ROOT / document).read_text().partition(f"{heading}\n")[2]
    [found, *_] = re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)
    return str(found)


async def test_the_readmes_report_is_made(reports: Reports) -> None:
    reports.say(piece("README.md", "### A report", "toml"))
    await reports.rows("alter table sales add column at timestamptz default '2026-11-15'")
    await reports.sell(1, 2)
    [(run,)] = await reports.rows(piece("README.md", "### A report", "sql").partition(";")[0])
    await reports.tick()
    assert len((await reports.text(run)).splitlines()) == 3


async def test_the_guides_report_is_made_and_its_link_mailed(reports: Reports) -> None:
    reports.say(piece("docs/kinds.md", "## Reports", "toml"))
    await reports.rows("create table buyers as select 1 as id, 'Ada' as name")
    await reports.rows("drop table sales; create table sales as select 1 as id, 1 as buyer, 2 as amount, now() as at")
    since = datetime.now(UTC).date().replace(day=1)
    [(run,)] = await reports.rows(
        piece("docs/kinds.md", "## Reports", "sql").partition(";")[0].replace("2026-11-01", since.isoformat())
    )
    await reports.tick()
    assert "Ada" in await reports.text(run)
    names: dict[str, Any] = {"__name__": "guide"}
    exec(piece("docs/kinds.md", "## Reports", "python"), names)
    mailing = names["mail_report"]
    await mailing.enqueue(reports.conn, run)
    settings = Settings(
        database_url=reports.url,
        environment="test",
        public_url="https://app.example",
        signing_secrets=(new_secret(),),
    )
    await run_tick(load_deployment(settings, kinds=[mailing]), TickRequest(kinds=("mail_report",)))
    [(text,)] = await reports.rows("select payload ->> 'text' from crontick.jobs where kind = 'send_email'")
    assert text.startswith(f"https://app.example/api/reports/{run}/download?")
