"""Counts how often a deployment was made of it."""

import sys
import traceback
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from crontick.handler.lazily import lazily
from crontick.jobs import Context
from tests.worlds.waiting import until

MADE: list[str] = []
made_once = lazily(dict).__code__


@asynccontextmanager
async def _around(_: Context) -> AsyncIterator[None]:
    yield


def callers() -> int:
    """The threads that have come for the deployment."""
    tops = sys._current_frames().values()
    return sum(any(frame.f_code is made_once for frame, _ in traceback.walk_stack(top)) for top in tops)


def __getattr__(name: str) -> Callable[[Context], AbstractAsyncContextManager[None]]:
    if name != "around":
        raise AttributeError(name)
    MADE.append(name)
    until(lambda: callers() == 4)
    return _around
