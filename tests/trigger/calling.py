"""The action's own script, run as the runner runs it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.door.serving import TOKEN
from tests.worlds.http_receiver import Answer
from tests.worlds.process import ROOT, Child, Processes

SCRIPT = ROOT / ".github" / "actions" / "tick" / "tick.py"
IMPATIENT = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import tick
tick.BEYOND_BUDGET_SECONDS = 1 - tick.DEFAULT_BUDGET_SECONDS
sys.exit(tick.main())
"""
"""The same script, but a call may take a second only."""
RUNNERS = ("GITHUB_ACTIONS", "GITHUB_EVENT_NAME")
COUNTS = ("claimed", "succeeded", "failed", "dead", "snoozed", "cancelled", "handed_back", "rescued", "lost")


def summary(**changed: object) -> Answer:
    """The answer of a tick that did nothing, but for what changed."""
    told = {"tick": 1, "ran": True, "trigger": "github-actions", "stop_reason": "empty", **dict.fromkeys(COUNTS, 0)}
    rest: dict[str, object] = {"more": False, "next_due_at": None, "late_seconds": None, "warnings": [], "errors": []}
    return Answer(200, json.dumps({**told, **rest, **changed}).encode(), {"content-type": "application/json"})


@dataclass(frozen=True, slots=True)
class Told:
    """What a run left behind."""

    status: int
    lines: list[str]
    outputs: dict[str, str]
    page: str

    @property
    def log(self) -> str:
        return "\n".join(self.lines)

    def commands(self, name: str) -> list[str]:
        """The texts of the annotations of one level."""
        return [line.partition("::")[2].partition("::")[2] for line in self.lines if line.startswith(f"::{name}")]


@dataclass(slots=True)
class Runner:
    """Runs the script with a token and an empty folder for what it writes."""

    processes: Processes
    folder: Path

    def start(self, url: str, **environ: str) -> Child:
        """Start it on plain http to loopback, unless told otherwise."""
        return self.processes.run("-I", str(SCRIPT), env=self._environ(url, environ))

    def start_impatient(self, url: str, **environ: str) -> Child:
        """Start it as a caller that gives each call one second."""
        return self.processes.start(IMPATIENT, str(SCRIPT.parent), env=self._environ(url, environ))

    def end(self, child: Child) -> Told:
        """What it left, once it has ended by itself; a traceback is never a way to end."""
        status, lines = child.wait(), child.rest()
        assert child.errors == ""
        written = self._read("output").splitlines()
        return Told(status, lines, dict(line.split("=", 1) for line in written), self._read("page"))

    def run(self, url: str, **environ: str) -> Told:
        return self.end(self.start(url, **environ))

    def _read(self, name: str) -> str:
        path = self.folder / name
        return path.read_text() if path.exists() else ""

    def _environ(self, url: str, environ: Mapping[str, str]) -> dict[str, str]:
        files = {"GITHUB_OUTPUT": str(self.folder / "output"), "GITHUB_STEP_SUMMARY": str(self.folder / "page")}
        ours = {"CRONTICK_URL": url, "CRON_SECRET": TOKEN, "TICK_ALLOW_PRIVATE_HTTP": "true"}
        return {**dict.fromkeys(RUNNERS, ""), **files, **ours, **environ}
