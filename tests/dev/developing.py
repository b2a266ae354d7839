"""``crontick dev`` as a process, and what it tells."""

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.worlds.process import Child, Processes
from tests.worlds.waiting import until

COMMAND = "import os, sys; os.chdir(sys.argv.pop(1)); from crontick.handler.cli import main; main()"
UNSET = dict.fromkeys(("CRONTICK_DATABASE_URL", "DATABASE_URL", "CRONTICK_MODULES", "CRONTICK_ENVIRONMENT"), "")
BACKGROUND = """
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from crontick.jobs import Context, Snooze, kind
from crontick.jobs.kinds.send_email import send_email


@dataclass(frozen=True)
class Person:
    name: str


@kind("hello")
async def hello(payload: Person, ctx: Context) -> None:
    mail = {"to": "ada@users.example", "subject": f"Hello {payload.name}", "text": "One\\nTwo\\nThree\\nFour"}
    ctx.enqueue(send_email, mail)


@kind("stumble")
def stumble(payload: Person) -> None:
    raise ValueError(f"\\x1b[31m{payload.name} \\x07fell over " + os.environ.get("CRONTICK_ADMIN_SECRET", ""))


@kind("wait")
async def wait(payload: Person) -> None:
    raise Snooze(3600)


@kind("linger", timeout=20)
async def linger(payload: Person) -> None:
    is_first = not Path("second").exists()
    print("linger", flush=True)
    if is_first:
        await asyncio.sleep(600)


@kind("die")
async def die(payload: Person) -> None:
    os._exit(3)


@asynccontextmanager
async def around(ctx: Context) -> AsyncIterator[None]:
    print("around", ctx.job.kind, flush=True)
    yield
"""
MAIN = """
from fastapi import FastAPI

app = FastAPI()


@app.get("/")
def version() -> str:
    return "first"
"""


@dataclass(slots=True)
class Developing:
    """A run in a project's folder, speaking JSON."""

    project: Path
    child: Child
    seen: list[dict[str, Any]] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)

    def told(self, event: str, sentence: str = "", *, seconds: float = 60) -> dict[str, Any]:
        """The next thing of that kind whose sentence has these words."""
        while True:
            one = self._next(seconds)
            if one is not None and one["event"] == event and sentence in one["message"]:
                return one

    def printing(self) -> str:
        """The next line that a function prints itself."""
        while self._next(60) is not None:
            pass
        return self.printed[-1]

    def _next(self, seconds: float) -> dict[str, Any] | None:
        """What it tells next; None for a line that is not crontick's."""
        line = self.child.line(seconds=seconds)
        if not line.startswith("{"):
            self.printed.append(line)
            return None
        self.seen.append(json.loads(line))
        return self.seen[-1]

    @property
    def database_url(self) -> str:
        """That of its database."""
        return self.shell('echo "$CRONTICK_DATABASE_URL"').strip()

    @property
    def url(self) -> str:
        """Where it serves, as it told."""
        return str(next(one["url"] for one in self.seen if "url" in one))

    def curl(self, path: str, *arguments: str) -> str:
        """What curl, run in the project's folder, gets from there."""
        command = ["curl", "-sS", "--max-time", "60", *arguments, self.url + path]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=self.project)
        return done.stdout

    def command(self, *arguments: str) -> str:
        """What a command answers in another terminal that sourced ``.crontick/env``."""
        return self.shell(f"crontick {shlex.join(arguments)}")

    def shell(self, command: str) -> str:
        """What a shell says to that line there; ``crontick`` is the command line."""
        alias = f'crontick() {{ "{sys.executable}" -c "{COMMAND}" . "$@"; }}'
        line = f"{alias}; . .crontick/env && {command}"
        return subprocess.run(["sh", "-c", line], check=True, capture_output=True, text=True, cwd=self.project).stdout

    def end(self, number: int = signal.SIGTERM) -> int:
        """Its exit status after that signal, when nothing that it started runs any more."""
        started = descendants(self.child.pid)
        assert started
        self.child.process.send_signal(number)
        try:
            status = self.child.wait()
            until(lambda: not [pid for pid in started if runs(pid)])
        finally:
            for pid in started:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        return status


def develop(
    processes: Processes,
    project: Path,
    *arguments: str,
    options: Sequence[str] = ("--every", "1s"),
    env: Mapping[str, str] | None = None,
) -> Developing:
    """Start ``crontick dev`` on a free port, ticking every second unless ``options`` say otherwise."""
    given = ("--json", "--port", "0", *options, *arguments)
    child = processes.start(COMMAND, str(project), "dev", *given, env={**UNSET, **(env or {})})
    return Developing(project, child)


def given(database: str, **env: str) -> dict[str, str]:
    """The environment of a run on a database that is there already, for tests of what is not the database."""
    return {"CRONTICK_DATABASE_URL": database, "CRONTICK_ENVIRONMENT": "test", **env}


def descendants(pid: int) -> set[int]:
    """The processes that it started, and those that they started."""
    parents = {child: parent for child in _pids() if (parent := _parent(child)) is not None}
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def runs(pid: int) -> bool:
    """Whether it is there, and no zombie."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]


def _parent(pid: int) -> int | None:
    with suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return None
