"""Kinds that watchers run beside those of the faults."""

import signal
import threading
import time
from typing import Any

from crontick.jobs import Context, kind
from tests.faults.doomed import eat, note, say, wait

__all__ = ["eat", "never_ends", "note", "overstays", "wait", "wait_in_thread"]

GONE_ON = threading.Event()


@kind("wait_in_thread", timeout=60, needs=0)
def wait_in_thread(payload: dict[str, Any], ctx: Context) -> None:
    """Until the payload's file is there."""
    say("in", ctx)
    while not GONE_ON.is_set():
        time.sleep(0.01)


@kind("overstays", timeout=1, needs=0)
def overstays(payload: dict[str, Any], ctx: Context) -> None:
    """A thread that nobody can stop."""
    say("in", ctx)
    time.sleep(600)


@kind("never_ends", timeout=60, needs=0)
async def never_ends(payload: dict[str, Any], ctx: Context) -> None:
    """Blocks the event loop."""
    say("in", ctx)
    signal.pause()
