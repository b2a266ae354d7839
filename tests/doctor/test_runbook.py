"""The runbook has a section for everything that links to it, and its commands are there."""

import re
from pathlib import Path

import pytest
import typer

from crontick.handler.cli.app import app
from crontick.handler.cli.tree import Leaf, leaves
from crontick.handler.doctor.finding import TOPICS
from crontick.handler.problem import TYPES

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"`crontick ([^`\n]+)`")
TREE = {leaf.path: leaf for leaf in leaves(typer.main.get_command(app))}


def anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9-]", "", heading.lower().replace(" ", "-"))


def called(words: list[str]) -> Leaf:
    """The command that runs when these words are typed."""
    found = TREE[()]
    while found.below and words:
        assert words[0] in found.below, f"crontick {' '.join(found.path)} has no command {words[0]}"
        found, words = TREE[(*found.path, words[0])], words[1:]
    return found


def test_each_problem_and_each_finding_has_one_section() -> None:
    wanted = [*(type_.anchor for type_ in TYPES), *(topic.name for topic in TOPICS)]
    text = (ROOT / "docs" / "runbook.md").read_text()
    found = [anchor(heading) for heading in re.findall(r"^## (.+)$", text, re.MULTILINE)]
    assert {name: found.count(name) for name in wanted} == dict.fromkeys(wanted, 1)


def test_each_section_has_its_four_parts() -> None:
    """What it means, where to look first, what mends it, and how to tell that it is over, in this order."""
    text = (ROOT / "docs" / "runbook.md").read_text()
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = section.partition("\n")
        body = re.split(r"^# ", body, flags=re.MULTILINE)[0].strip()
        at = [body.find(part) for part in ("*First look:*", "*Mend:*", "*Over:*")]
        assert 0 < at[0] < at[1] < at[2], f"{heading}: {at}"


@pytest.mark.parametrize("page", ["operating.md", "roles.md", "runbook.md"])
def test_the_commands_that_are_told_are_there_with_their_options(page: str) -> None:
    told = COMMAND.findall((ROOT / "docs" / page).read_text())
    assert told
    for line in told:
        words = line.split()
        assert {word for word in words if word.startswith("--")} <= {*called(words).options}, line


def test_the_commands_in_findings_are_there() -> None:
    for path in (ROOT / "handler" / "doctor").glob("*.py"):
        for line in COMMAND.findall(path.read_text()):
            called(line.split())
