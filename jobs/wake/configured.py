"""The ``[wake]`` of a process that enqueues, which is the app's own and may run no tick."""

import logging
import os
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from crontick.jobs.settings import WITHOUT_ALARMS

if TYPE_CHECKING:
    from crontick.jobs.outward_sections import WakeSettings

__all__ = ["IN_TICK", "configured"]

IN_TICK: Final[ContextVar[bool]] = ContextVar("crontick_in_tick", default=False)
"""Whether a tick runs this code: its end sets the alarm for whatever its functions enqueued."""
log: Final = logging.getLogger("crontick.wake")


def configured() -> "WakeSettings | None":
    """What ``crontick.toml`` says, read once and again when it changed; None also in environments without alarms."""
    if IN_TICK.get() or os.environ.get("CRONTICK_ENVIRONMENT") in WITHOUT_ALARMS:
        return None
    path = Path(os.environ.get("CRONTICK_CONFIG") or "crontick.toml")
    try:
        changed_ns = path.stat().st_mtime_ns
    except OSError:
        return None
    return _read(path.absolute(), changed_ns)


@lru_cache(maxsize=4)
def _read(path: Path, _changed_ns: int) -> "WakeSettings | None":
    """A file that is wrong is told here once, and by every tick; nobody's enqueue fails of it."""
    if b"wake" not in path.read_bytes():
        return None
    # Imported here: an app whose file has no [wake] does not pay for reading the rest of it.
    from crontick.jobs.config import load_config
    from crontick.jobs.config_error import ConfigError

    try:
        return load_config(path).wake
    except ConfigError as error:
        log.warning("no alarm is set for what this process enqueues: %s", error)
        return None
