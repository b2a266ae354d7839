"""Which paths are crontick's when it shares a server with an app."""

import os
from collections.abc import Mapping
from typing import Any, Final

TICK_PATHS: Final = ("/cron/tick", "/api/cron/tick")
WRAPPED_PREFIX: Final = "/crontick"


def is_ours(scope: Mapping[str, Any]) -> bool:
    """True for an HTTP request to the tick, or to anything under ``CRONTICK_PREFIX``."""
    if scope["type"] != "http":
        return False
    path = _below(scope["path"], scope.get("root_path", ""))
    if path.rstrip("/") in TICK_PATHS:  # with a slash nothing is there, and we say so
        return True
    # Read at each call: when the app was wrapped, a settings file of its own was perhaps not yet read.
    prefix = os.environ.get("CRONTICK_PREFIX", "").strip() or WRAPPED_PREFIX
    # A prefix that settings refuse takes nothing away from the app; a tick then says what is wrong.
    return prefix[0] == "/" != prefix[-1] and f"{path}/".startswith(f"{prefix}/")


def _below(path: str, root_path: str) -> str:
    """The path without what a server or an outer app mounts this one under, if it has it: not every server says it."""
    return path.removeprefix(root_path) if f"{path}/".startswith(f"{root_path}/") else path
