"""How full the memory is that the host allows, so that a tick stops claiming before it is killed."""

import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

__all__ = ["Limits", "limits", "nearly_full"]

_FULL: Final = 0.9
_UNLIMITED: Final = 2**60
"""From here on a number is cgroup v1's way to say that there is no limit."""
_ROOT: Final = Path("/")


class Limits(msgspec.Struct, frozen=True):
    """In bytes, None for none. Containers and Lambda limit what is resident, ``ulimit -v`` what is mapped."""

    resident: int | None
    mapped: int | None


@functools.cache
def limits(root: Path = _ROOT) -> Limits:
    """What holds for this process. ``root`` is where ``proc`` and ``sys`` are."""
    import resource

    told = os.environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "")
    resident = [int(told) * 2**20] if told.isdecimal() else []
    resident += _of_cgroups(root)
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return Limits(min(resident, default=None), None if soft == resource.RLIM_INFINITY else soft)


def nearly_full(root: Path = _ROOT) -> bool:
    """Whether this process uses 90 % of what it may."""
    allowed = limits(root)
    if allowed.resident is None and allowed.mapped is None:
        return False
    try:
        mapped_pages, resident_pages, *_ = map(int, (root / "proc/self/statm").read_text().split())
    except OSError:
        return False
    page = os.sysconf("SC_PAGE_SIZE")
    return any(
        limit is not None and pages * page > limit * _FULL
        for pages, limit in ((resident_pages, allowed.resident), (mapped_pages, allowed.mapped))
    )


def _of_cgroups(root: Path) -> Iterator[int]:
    """The limits of this process's group and of those around it, of version 2 and of version 1."""
    try:
        memberships = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    mounted = root / "sys/fs/cgroup"
    for membership in memberships:
        number, controllers, path = membership.split(":", 2)
        if number == "0":
            yield from _up_to(mounted, path, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _up_to(mounted / "memory", path, "memory.limit_in_bytes")


def _up_to(mounted: Path, path: str, name: str) -> Iterator[int]:
    """A container may see its own group as the outermost one, under a path that only the host has."""
    folder = mounted.joinpath(*(part for part in path.split("/") if part not in ("", "..")))
    for around in (folder, *folder.parents):
        try:
            text = (around / name).read_text().strip()
        except OSError:
            text = ""
        if text.isdecimal() and int(text) < _UNLIMITED:
            yield int(text)
        if around == mounted:
            return
