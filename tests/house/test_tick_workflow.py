"""Every workflow that we ship or show calls the tick as carefully as the next."""

import ast
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml

from crontick.handler.trigger import trigger_name
from crontick.jobs.settings import Settings
from crontick.sql import VERSION

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "actions" / "tick"
OURS = ROOT / ".github" / "workflows" / "cron-tick.yml"
PAGES = (ROOT / "README.md", ROOT / "docs" / "github-actions.md")


def shown() -> list[Any]:
    """Ours, and each whole workflow that the documents show."""
    texts = [pytest.param(OURS.read_text(), id="ours")]
    for page in PAGES:
        pieces = re.findall(r"```yaml\n(.*?)```", page.read_text(), re.DOTALL)
        whole = [piece for piece in pieces if "jobs:" in piece]
        texts += [pytest.param(piece, id=f"{page.name}-{at}") for at, piece in enumerate(whole)]
    return texts


def read(text: str) -> dict[str, Any]:
    decoded: dict[Any, Any] = yaml.safe_load(text)
    decoded["on"] = decoded.pop(True)  # YAML 1.1's word for true
    return decoded


def action() -> dict[str, Any]:
    decoded: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text())
    return decoded


def test_each_document_shows_a_whole_workflow_and_the_readme_s_has_six_lines() -> None:
    assert [page.name for page in PAGES if len([1 for one in shown() if one.id.startswith(page.name)]) == 0] == []
    (six,) = (one for one in shown() if one.id.startswith("README"))
    assert len(str(six.values[0]).splitlines()) == 6


@pytest.mark.parametrize("text", shown())
def test_a_workflow_that_ticks_is_bounded_and_may_do_nothing_else(text: str) -> None:
    workflow = read(text)
    assert workflow["permissions"] == {}
    (job,) = workflow["jobs"].values()
    assert job.get("permissions", {}) in ({}, {"contents": "read"})
    assert 4 < job["timeout-minutes"] <= 10, "above the action's own max-minutes, and a few"
    assert not any("run" in step for step in job["steps"]), "no secret comes near the text of a shell"


@pytest.mark.parametrize("text", shown())
def test_no_run_cancels_another_and_a_manual_one_pushes_out_no_scheduled_one(text: str) -> None:
    concurrency = read(text)["concurrency"]
    assert concurrency["cancel-in-progress"] is False
    assert "${{ github.event_name }}" in concurrency["group"]


@pytest.mark.parametrize("text", shown())
def test_the_schedule_is_off_the_hour_and_no_shorter_than_github_s_floor(text: str) -> None:
    triggers = read(text)["on"]
    assert set(triggers) == {"schedule", "workflow_dispatch"}
    (entry,) = triggers["schedule"]
    minutes = [int(minute) for minute in entry["cron"].removesuffix(" * * * *").split(",")]
    assert all(minute % 15 != 0 for minute in minutes)
    assert all(later - earlier >= 5 for earlier, later in pairwise(minutes))


@pytest.mark.parametrize("text", shown())
def test_it_hands_both_secrets_and_only_inputs_to_the_action(text: str) -> None:
    (job,) = read(text)["jobs"].values()
    (step,) = job["steps"]
    assert step["uses"].partition("@")[0].endswith("/.github/actions/tick")
    assert step["with"]["url"] == "${{ secrets.CRONTICK_URL }}"
    assert step["with"]["secret"] == "${{ secrets.CRON_SECRET }}"
    assert set(step["with"]) <= set(action()["inputs"])


def test_the_action_hands_every_input_to_the_script_by_the_environment_alone() -> None:
    (step,) = action()["runs"]["steps"]
    assert step["run"] == 'python3 -I "$GITHUB_ACTION_PATH/tick.py"'
    passed = {name: value.removeprefix("${{ inputs.").removesuffix(" }}") for name, value in step["env"].items()}
    assert sorted(passed.values()) == sorted(action()["inputs"])
    assert (passed.pop("CRONTICK_URL"), passed.pop("CRON_SECRET")) == ("url", "secret")
    assert set(passed) == {"TICK_" + name.upper().replace("-", "_") for name in passed.values()}
    script = (FOLDER / "tick.py").read_text()
    assert [name for name in passed.values() if f'("{name}"' not in script] == []


def test_the_documents_tell_every_input_and_output() -> None:
    told = (ROOT / "docs" / "github-actions.md").read_text()
    assert [name for name in action()["inputs"] if f"`{name}`" not in told] == []
    assert [name for name in action()["outputs"] if f"`{name}`" not in told] == []


def test_the_script_has_our_version_and_the_trigger_is_known_by_it() -> None:
    assert f'VERSION: Final = "{VERSION}"\n' in (FOLDER / "tick.py").read_text()
    assert trigger_name(f"crontick-github-actions/{VERSION}") == "github-actions"


def test_no_caller_gives_up_while_a_tick_of_the_default_budget_may_still_run() -> None:
    script = (FOLDER / "tick.py").read_text()
    (budget,) = re.findall(r"^DEFAULT_BUDGET_SECONDS: Final = ([0-9]+)$", script, re.MULTILINE)
    assert int(budget) == Settings().budget_seconds
    assert int(budget) <= 180 / 2, "Cloud Scheduler gives up after three minutes"
    patience = [int(seconds) for page in PAGES for seconds in re.findall(r"--max-time ([0-9]+)", page.read_text())]
    assert patience
    assert min(patience) > int(budget) + 20, "which is how long a database may take to wake"


def test_the_script_needs_the_standard_library_of_an_older_python_alone() -> None:
    tree = ast.parse((FOLDER / "tick.py").read_text(), feature_version=(3, 10))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name for node in imports if isinstance(node, ast.Import) for name in node.names}
    names |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.parametrize("linter", [["jactionlint", "--shellcheck="], ["zizmor", "--offline", "--no-progress"]])
@pytest.mark.parametrize("text", shown())
def test_the_linters_find_nothing_in_what_we_show(tmp_path: Path, linter: list[str], text: str) -> None:
    path = tmp_path / ".github" / "workflows" / "cron-tick.yml"
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("@COMMIT", "@" + "0" * 40))
    program = Path(sys.executable).with_name(linter[0])
    done = subprocess.run([program, *linter[1:], path], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
