"""How full the memory is that the host allows, so that a tick stops claiming before it is killed."""

import functools
from pathlib import Path
from typing import Final

__all__ = ["limit_bytes", "nearly_full"]

_FULL: Final = 0.9
_LIMITS: Final = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_STATM: Final = Path("/proc/self/statm")


@functools.cache
def limit_bytes() -> int | None:
    """The container's or Lambda's limit; None where there is none to be read."""
    import os
    import resource

    limits = (
        [int(os.environ["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"]) * 2**20]
        if "AWS_LAMBDA_FUNCTION_MEMORY_SIZE" in os.environ
        else []
    )
    soft = resource.getrlimit(resource.RLIMIT_AS)[0]
    if soft != resource.RLIM_INFINITY:
        limits.append(soft)
    for path in _LIMITS:
        try:
            text = path.read_text().strip()
        except OSError:
            continue
        if text.isdigit() and int(text) < 2**60:
            limits.append(int(text))
    return min(limits, default=None)


def nearly_full() -> bool:
    """Whether the process uses 90 % of its limit."""
    limit = limit_bytes()
    if limit is None:
        return False
    try:
        resident_pages = int(_STATM.read_text().split()[1])
    except OSError:
        return False
    return resident_pages * 4096 > limit * _FULL
