"""Ends a process whose event loop does not turn: a function that blocks it would block every deadline as well (P7)."""

import asyncio
import faulthandler
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

EXIT_STATUS: Final = 70
PATIENCE_SECONDS: Final = 7.5
"""Half of the 15 s between a tick's deadline and the end of its leases (P4)."""


@contextmanager
def watched(
    loop: asyncio.AbstractEventLoop, *, deadline_seconds: float, patience_seconds: float = PATIENCE_SECONDS
) -> Iterator[None]:
    """While inside, and from the deadline on, the loop must turn within ``patience_seconds`` of being asked to.

    A loop that does not ends the process with status 70, after writing where each thread stands to stderr.
    """
    over = threading.Event()
    arguments = (loop, over, time.monotonic() + deadline_seconds, patience_seconds)
    threading.Thread(target=_watch, args=arguments, name="crontick-watchdog", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _watch(loop: asyncio.AbstractEventLoop, over: threading.Event, deadline: float, patience_seconds: float) -> None:
    over.wait(deadline - time.monotonic())
    while not over.is_set():
        turned = threading.Event()
        try:
            loop.call_soon_threadsafe(turned.set)
        except RuntimeError:
            return  # the loop is closed: its process is already ending
        if not turned.wait(patience_seconds):
            _end()
        over.wait(patience_seconds)


def _end() -> None:
    sys.stderr.write("crontick: the event loop has been blocked past the tick's deadline; this process ends\n")
    sys.stderr.flush()
    faulthandler.dump_traceback(all_threads=True)
    os._exit(EXIT_STATUS)
