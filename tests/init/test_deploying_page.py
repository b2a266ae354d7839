"""docs/deploying.md: its steps, as they stand there, lead from an empty folder to a tick that came by itself."""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from crontick.handler.init import names
from tests.door.deployed import uvicorn
from tests.trigger.calling import Runner
from tests.worlds.process import ROOT, Child, Processes
from tests.worlds.waiting import until

PAGE = (ROOT / "docs" / "deploying.md").read_text()
STEPS = [
    [line.strip() for block in re.findall(r"```sh\n(.+?)\n *```", step, re.DOTALL) for line in block.splitlines()]
    for step in re.split(r"^\d\. ", PAGE.partition("## Ten minutes")[2], flags=re.MULTILINE)[1:]
]
ELSEWHERE = re.compile(r"(pip|fly|gh|git) |.*\| (fly|gh) ")
"""What needs the Internet, or somebody's account."""
MAIN = "import os, sys; os.chdir(sys.argv.pop(1)); from crontick.handler.cli import main; main()"


def bash(folder: Path, lines: list[str], env: dict[str, str]) -> tuple[dict[str, str], str]:
    """Run the lines one after another, none of which may fail; the variables that they leave, and what they say."""
    script = "\n".join(["set -eu", *(line for line in lines if not ELSEWHERE.match(line)), "env -0 >variables"])
    done = subprocess.run(["bash", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    left = (folder / "variables").read_text().split("\0")
    return dict(line.split("=", 1) for line in left if line), done.stdout


def told(child: Child, sentence: str) -> bool:
    return sentence in child.errors


@pytest.fixture
def environ(raw_database: str, tmp_path: Path) -> dict[str, str]:
    """A terminal that has a database, and the programs that this project installs."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "crontick").write_text(
        f"#!{sys.executable}\nimport sys\nfrom crontick.handler.cli import main\nmain()\n"
    )
    (tmp_path / "bin" / "crontick").chmod(0o755)
    path = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    return {"PATH": path, "HOME": str(tmp_path), "DATABASE_URL": raw_database, "LANG": "C.UTF-8"}


def test_the_steps_end_with_a_tick_that_came_from_outside(
    fresh: Path, environ: dict[str, str], processes: Processes, tmp_path: Path
) -> None:
    write, secrets, database, deploy, by_hand, github, by_itself = STEPS
    env, said = bash(fresh, [*write, *secrets, *database], environ)
    assert "wrote .github/actions/tick/action.yml" in said
    assert said.endswith("all is well\n")
    assert deploy[0] == "fly apps create acme-jobs"
    assert f"    {deploy[-1]}\n" in said, "the step is what init says"

    home = {
        "PYTHONPATH": f"{fresh}:{os.environ.get('PYTHONPATH', '')}",
        "CRONTICK_CONFIG": str(fresh / "crontick.toml"),
    }
    with uvicorn({**env, **home}) as (host, port):
        url = f"http://{host}:{port}"
        env, said = bash(fresh, [line.replace("https://acme-jobs.fly.dev", url) for line in by_hand], env)
        assert '"ran":true' in said
        for line in (github[-1], *by_itself):
            words = line.replace('"$CRONTICK_URL"', url).split()
            assert words[:2] == ["crontick", "verify-trigger"]
            waiting = processes.start(MAIN, str(fresh), *words[1:], env=env)
            until(partial(told, waiting, "waiting up to"), seconds=60)
            called = Runner(processes, tmp_path).run(url, CRON_SECRET=env["CRON_SECRET"])
            assert called.status == 0, called.log
            assert waiting.wait(seconds=60) == 0, waiting.errors
            assert waiting.rest()[0].startswith("github-actions called tick ")


def test_all_that_can_be_written_is_told_and_each_trigger_has_its_source() -> None:
    assert [name for name in names() if name != "project" and f"| `crontick init {name}" not in PAGE] == []
    (table,) = re.findall(r"^\| trigger \|.*?\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    rows = [row.strip("|\n ").split(" | ") for row in table.splitlines()[1:]]
    assert [row[0] for row in rows if len(row) != 6 or not re.search(r"\]\(\S+\)", row[5])] == []
    assert len(rows) >= 8
    ours = re.findall(r"\]\(((?!https:)[^)#]+)", PAGE)
    assert [path for path in ours if not (ROOT / "docs" / path).exists()] == []
