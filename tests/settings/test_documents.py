"""No secret that stands in our own documents opens a door."""

import re
import textwrap
from pathlib import Path

import pytest

from crontick.jobs.config import read_config
from crontick.jobs.settings import SECRETS, VARIABLES, Settings, SettingsError

ROOT = Path(__file__).parents[2]
GIVEN = re.compile(rf"(?:{'|'.join(SECRETS)})\s*[=:]\s*[\"']?([^\s\"'`|]+)|Bearer ([^\s\"'`<|]+)")


def documents() -> list[Path]:
    """Whatever a newcomer might copy from."""
    folders = [ROOT / "docs", ROOT / "deploy", ROOT / ".github"]
    found = [
        path for folder in folders for path in folder.rglob("*") if path.suffix in {".md", ".yml", ".yaml", ".toml"}
    ]
    return [path for path in [*ROOT.glob("*.md"), *found] if path.is_file()]


def test_an_example_secret_of_our_documents_is_refused() -> None:
    values = {value for path in documents() for pair in GIVEN.findall(path.read_text()) for value in pair if value}
    assert values
    for value in values:
        with pytest.raises(SettingsError):
            Settings.from_environ({"CRON_SECRET": value})


def test_the_readme_has_every_setting_as_the_code_reads_it() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (.*?) ?\| (.*?) \|$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert rows == [tuple(variable) for variable in VARIABLES]


def test_every_piece_of_configuration_in_the_readme_is_accepted() -> None:
    pieces = re.findall(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(pieces) >= 4
    for piece in pieces:
        read_config(textwrap.dedent(piece), kinds=("send_email", "deliver_webhook", "send_receipt", "generate_report"))


def test_every_file_that_the_readme_points_to_is_there() -> None:
    targets = re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text())
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []
