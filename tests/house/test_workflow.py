"""The workflows do what is promised, and nothing that can change under them."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def workflow(path: Path) -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(path.read_text())
    return read


def test_the_matrix_has_every_python_and_every_postgresql_that_is_supported() -> None:
    matrix = workflow(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["check"]["strategy"]["matrix"]
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    assert matrix["postgresql"] == ["14", "15", "16", "17", "18"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_pinned_bounded_and_may_do_little(path: Path) -> None:
    read = workflow(path)
    assert read["permissions"] == {}
    for job in read["jobs"].values():
        assert job["timeout-minutes"] <= 30
        for step in job["steps"]:
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}|\$/[\w./-]+", step.get("uses", "$/nothing"))


def test_every_pin_names_its_version() -> None:
    lines = [line for path in WORKFLOWS for line in path.read_text().splitlines() if "uses:" in line and "@" in line]
    assert len(lines) > 5
    assert [line for line in lines if not re.search(r"@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)] == []


def test_ci_runs_the_one_command_that_a_contributor_runs() -> None:
    steps = workflow(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["check"]["steps"]
    assert [step["run"] for step in steps if step.get("run", "").startswith(".ci")] == [".ci/run"]
    assert "TESTS_NO_SKIPS=1" in (ROOT / ".ci" / "run").read_text()


def test_ci_installs_what_the_command_needs_and_the_runner_lacks() -> None:
    """As no root the command installs nothing; the rest is on GitHub's ubuntu-24.04 (actions/runner-images)."""
    there = {"make", "nodejs", "npm", "golang-go", "chromium", "python3-venv"}
    needed = set(re.findall(r"missing\+=\(([\w.-]+)\)", (ROOT / ".ci" / "run").read_text()))
    (install,) = re.findall(
        r"apt-get install --quiet --yes --no-install-recommends \\?\s*(.*)",
        (WORKFLOWS[0].parent / "ci.yml").read_text(),
    )
    assert needed - there == set(install.split()) - {'"postgresql-$VERSION"'}
