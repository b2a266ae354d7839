"""Other Python processes, which can be frozen and killed, and never outlive their test."""

import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[2]


@dataclass(slots=True)
class Child:
    """A process; what it prints is read line by line."""

    process: subprocess.Popen[str]
    _errors: IO[bytes]
    _lines: queue.Queue[str] = field(default_factory=queue.Queue)
    _reader: threading.Thread | None = None

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def errors(self) -> str:
        """What it wrote to stderr so far."""
        whole = os.pread(self._errors.fileno(), 2**20, 0)  # a seek would move the child's own position
        return whole.decode(errors="replace")

    def line(self, *, seconds: float = 30) -> str:
        """The next line it prints; an AssertionError with its stderr when there is none in time."""
        try:
            return self._lines.get(timeout=seconds)
        except queue.Empty:
            raise AssertionError(f"the process said nothing within {seconds:g} s:\n{self.errors}") from None

    def rest(self) -> list[str]:
        """All other lines it printed, once it has ended."""
        assert self._reader is not None
        self._reader.join(30)
        return [self._lines.get() for _ in range(self._lines.qsize())]

    def kill(self) -> None:
        """SIGKILL: no clean-up of its own."""
        self.process.kill()
        self.process.wait(30)

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def terminate(self) -> None:
        self.process.terminate()

    def wait(self, *, seconds: float = 30) -> int:
        """The exit code; an AssertionError with its stderr when it does not end in time."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the process still runs after {seconds:g} s:\n{self.errors}") from None

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))


@dataclass(slots=True)
class Processes:
    """Starts processes, and remembers them for the end."""

    children: list[Child] = field(default_factory=list)

    def start(self, script: str, *arguments: str, env: Mapping[str, str] | None = None) -> Child:
        """Run Python source text; ``tests`` can be imported there, as can ``crontick``."""
        return self.run("-c", script, *arguments, env=env)

    def run(self, *arguments: str, env: Mapping[str, str] | None = None) -> Child:
        """Run Python with these arguments, for example ``-m``, a module, and what it takes."""
        return self.program(sys.executable, "-u", *arguments, env=env)

    def program(self, *command: str, env: Mapping[str, str] | None = None) -> Child:
        """Run any program."""
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the child)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "PYTHONPATH": path, **(env or {})},
        )
        child = Child(process, errors)
        child._reader = threading.Thread(target=child._read, daemon=True)
        child._reader.start()
        self.children.append(child)
        return child

    def end(self) -> None:
        for child in self.children:
            with suppress(ProcessLookupError):
                child.kill()
            if child._reader is not None:
                child._reader.join(30)
            if child.process.stdout is not None:
                child.process.stdout.close()
            child._errors.close()


def peak_mib() -> float:
    """The most memory that this process has had; VmHWM, for ru_maxrss is inherited from the parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


@contextmanager
def processes() -> Iterator[Processes]:
    made = Processes()
    try:
        yield made
    finally:
        made.end()
