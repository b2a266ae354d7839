"""A folder in memory for a server's data: there a new database takes 30 ms, on a disk up to 200."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MEMORY = Path("/dev/shm")
_GIBIBYTES_NEEDED = 4
"""A container's /dev/shm often has 64 MiB, which is too little."""
_PREFIX = "crontick-test-"


@contextmanager
def memory_folder() -> Iterator[Path | None]:
    """A folder that goes with the block, or, if the process is killed, with the next one's start; None without room."""
    if not MEMORY.is_dir() or shutil.disk_usage(MEMORY).free < _GIBIBYTES_NEEDED * 2**30:
        yield None
        return
    with _locked(MEMORY, fcntl.LOCK_EX):  # between making and locking a folder nobody may take it for a dead one's
        _sweep()
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=MEMORY))
        lock = os.open(folder, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep() -> None:
    """Remove what killed processes left: their locks went with them."""
    for folder in MEMORY.glob(_PREFIX + "*"):
        with suppress(OSError), _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, how)
        yield
    finally:
        os.close(opened)
