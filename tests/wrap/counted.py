"""Counts how often a deployment was made of it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from crontick.jobs import Context

MADE: list[str] = []


@asynccontextmanager
async def _around(_: Context) -> AsyncIterator[None]:
    yield


def __getattr__(name: str) -> Callable[[Context], AbstractAsyncContextManager[None]]:
    if name != "around":
        raise AttributeError(name)
    MADE.append(name)
    return _around
