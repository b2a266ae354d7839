"""Which files of the project changed."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

SUFFIXES: Final = (".py", ".toml")
NOT_LOOKED_INTO: Final = frozenset({"__pycache__", "node_modules", "site-packages"})

Seen = dict[str, tuple[int, int]]


def look(project: Path) -> Seen:
    """The code and configuration files, with time and size; hidden folders and virtual environments are left out."""
    return dict(_files(str(project)))


def changed(before: Seen, after: Seen) -> list[str]:
    """Files that were written, came or went, in order."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def _files(folder: str) -> Iterator[tuple[str, tuple[int, int]]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:  # it went, or is not ours to read
        return
    if any(entry.name == "pyvenv.cfg" for entry in entries):
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name in NOT_LOOKED_INTO:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _files(entry.path)
        elif entry.name.endswith(SUFFIXES):
            try:
                found = entry.stat()
            except OSError:
                continue
            yield entry.path, (found.st_mtime_ns, found.st_size)
