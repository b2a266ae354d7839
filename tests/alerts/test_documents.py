"""Every alert is explained where its message points, and every setting where an operator reads of it."""

import re
from pathlib import Path
from typing import get_args

import pytest

from crontick.jobs.alerts.message import RUNBOOK
from crontick.jobs.config import read_config
from crontick.jobs.outward_sections import AlertName, AlertSettings, HeartbeatSettings

ROOT = Path(__file__).parents[2]
ALERTS = (ROOT / "docs" / "alerts.md").read_text()


@pytest.mark.parametrize("name", get_args(AlertName))
def test_an_alert_has_its_section_of_the_runbook_with_the_mend_and_its_end(name: str) -> None:
    text = (ROOT / "docs" / "runbook.md").read_text()
    sections = {one.partition("\n")[0].lower(): one for one in re.split(r"^## ", text, flags=re.MULTILINE)}
    section = sections[name.replace("_", " ")]
    assert "`crontick " in section
    assert "*Over:*" in section
    assert RUNBOOK.endswith("/docs/runbook.md")


def test_the_names_in_sql_are_those_of_the_configuration() -> None:
    functions = [path.read_text() for path in (ROOT / "sql" / "functions").glob("alerts_of_*.sql")]
    named = set(re.findall(r"'([a-z]+_[a-z]+|doubts)'", "".join(functions)))
    assert set(get_args(AlertName)) <= named


@pytest.mark.parametrize("setting", [*AlertSettings.__struct_fields__, *HeartbeatSettings.__struct_fields__])
def test_a_setting_is_told(setting: str) -> None:
    assert re.search(rf"^{setting} = ", ALERTS, re.MULTILINE), f"docs/alerts.md has no {setting}"


def test_the_example_can_be_read() -> None:
    [example] = re.findall(r"^```toml\n(.*?)^```", ALERTS, re.MULTILINE | re.DOTALL)
    config = read_config(example)
    assert config.heartbeat is not None
    assert config.alerts.recipients == ("oncall@acme.example",)
