"""The callers that ``deploy/`` ships, run as their hosts run them, on loopback."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.deploy.folder import DEPLOY, commands, crontab, ticker
from tests.door.serving import TOKEN
from tests.worlds.process import ROOT

GCLOUD: Final = """#!/bin/sh
# Stands where the program of that name stands: notes what it is asked, and answers what it was told to.
echo "$(basename "$0") $*" >>"$NOTED"
case "$*" in
    *"services describe"*) echo "$SERVICE_URL" ;;
    *"secrets versions access"*) printf %s "$CRON_SECRET" ;;
    *"scheduler jobs describe"*) exit "$NO_JOB_YET" ;;
    *--flags-file=*) cat "$(printf '%s\\n' "$@" | sed -n 's/^--flags-file=//p')" >>"$NOTED" ;;
esac
"""


@dataclass(slots=True)
class Caller:
    """One that was started, with whatever it starts itself, in a process group of its own."""

    process: "subprocess.Popen[str]"
    home: Path

    def ended(self) -> tuple[int, str, str]:
        said, complained = self.process.communicate(timeout=60)
        return self.process.returncode, said, complained

    def end(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


Start = Callable[[Path, str], Caller]


def _start(command: list[str], home: Path, **environ: str) -> Caller:
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={"PATH": f"{home}:/usr/bin:/bin", "HOME": str(home), **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    return Caller(process, home)


def by_crontab(home: Path, url: str) -> Caller:
    """The entry's command in cron's shell, after the command that makes the file with the header."""
    make_header = commands("crontab/crontab")[0]
    shell = ["/bin/sh", "-c", make_header]
    subprocess.run(shell, env={"PATH": "/usr/bin:/bin", "HOME": str(home), "CRON_SECRET": TOKEN}, check=True)
    return _start(["/bin/sh", "-c", crontab()[1]], home, CRONTICK_URL=url)


def by_ticker(home: Path, url: str) -> Caller:
    return _start(["/bin/sh", "-c", ticker()], home, CRONTICK_URL=url, CRON_SECRET=TOKEN)


def by_cloudrun(home: Path, url: str, *, no_job_yet: int = 1) -> Caller:
    """The whole script; where gcloud and docker stand are two that only note what they are asked."""
    for name in ("gcloud", "docker"):
        (home / name).write_text(GCLOUD)
        (home / name).chmod(0o755)
    noted = {"NOTED": str(home / "noted"), "NO_JOB_YET": str(no_job_yet)}
    script = str(DEPLOY / "cloudrun" / "deploy.sh")
    return _start(["bash", script], home, SERVICE_URL=url, CRON_SECRET=f"{TOKEN},{'0' * 20}", **noted)


CALLERS: Final[dict[str, Start]] = {"crontab": by_crontab, "compose": by_ticker, "cloudrun": by_cloudrun}


@contextmanager
def calling(name: str, home: Path, url: str) -> Iterator[Caller]:
    """The caller at work on that address; whatever of it still runs is ended."""
    home.mkdir()
    caller = CALLERS[name](home, url)
    try:
        yield caller
    finally:
        caller.end()


def noted(home: Path) -> list[str]:
    """The command lines that gcloud and docker got, and what gcloud read from a file of flags."""
    return re.sub(r" +", " ", (home / "noted").read_text()).splitlines()
