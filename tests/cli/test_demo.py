"""The demo, told to end in its middle, leaves nothing behind: no server, no folder."""

import os
import signal
from pathlib import Path

from tests.worlds.process import Processes
from tests.worlds.waiting import until

MAIN = "import os; os.setsid(); from crontick.handler.cli import main; import sys; sys.argv[1:] = ['demo']; main()"


def members(session: int) -> list[str]:
    """The command lines of all that runs in the session."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            command = (path.parent / "cmdline").read_text()
        except OSError:
            continue  # it ended meanwhile
        if int(fields[3]) == session:
            found.append(command)
    return found


def test_a_demo_that_is_told_to_end_leaves_no_server_and_no_folder(processes: Processes, tmp_path: Path) -> None:
    demo = processes.start(MAIN, env={"TMPDIR": str(tmp_path)})
    while "three people sign up" not in demo.line(seconds=60):
        pass
    assert len([command for command in members(demo.pid) if "uvicorn" in command]) == 2
    assert len(list(tmp_path.glob("crontick-demo-*"))) == 1
    os.kill(demo.pid, signal.SIGTERM)
    assert demo.wait(seconds=60) == 128 + signal.SIGTERM, demo.errors
    until(lambda: members(demo.pid) == [], seconds=60)
    assert list(tmp_path.glob("crontick-*")) == []
