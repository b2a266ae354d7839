"""Where things run while a test drains: on a sync connection, and as sync functions, in the test's own thread."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

from crontick.jobs.testing.django import kept_open
from crontick.jobs.testing.say import finished
from crontick.jobs.threads import SyncSide, Threads

__all__ = ["CallersLoop", "CallersThread", "Place", "in_callers_thread"]

T = TypeVar("T")


class Place(Protocol):
    """How the connection is spoken to, and where sync functions run."""

    @property
    def sync_side(self) -> SyncSide:
        """For the functions."""
        ...

    async def speak(self, talk: Coroutine[Any, Any, T]) -> T:
        """What a coroutine ends with that speaks on the connection."""
        ...


class CallersLoop:
    """An async connection: all is awaited in the test's loop, and sync functions run in threads as in any tick."""

    def __init__(self) -> None:
        self.sync_side = Threads()

    async def speak(self, talk: Coroutine[Any, Any, T]) -> T:
        """Here."""
        return await talk


class CallersThread:
    """A sync connection: Django and psycopg2 take it in the thread of the test only, which serves the engine meanwhile.

    The engine's loop has a thread of its own. Sync functions run in the test's thread too, so that they see what
    belongs to it: Django's open transaction, a session.
    """

    @property
    def sync_side(self) -> SyncSide:
        """Itself."""
        return self

    async def speak(self, talk: Coroutine[Any, Any, T]) -> T:
        """In the test's thread."""
        said: T = await self.run(lambda: finished(talk))
        return said

    async def run(self, function: Callable[[], Any]) -> Any:
        """The function's value, or what it raised."""
        from asgiref.sync import sync_to_async

        return await sync_to_async(function, thread_sensitive=True)()

    def wait(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:  # noqa: ARG002
        """What the loop answers; this thread serves it meanwhile, for the answer may need the connection."""
        from asgiref.sync import async_to_sync

        async def answer() -> T:
            return await coroutine

        return async_to_sync(answer)()

    def close(self) -> None:
        """The thread is the test's."""


def in_callers_thread(work: Callable[[], Coroutine[Any, Any, T]], *, instead: str) -> T:
    """What the work ends with, in a loop of another thread. Raises in an async test, saying what to do instead."""
    if _loop_runs():
        raise RuntimeError(f"an event loop runs in this thread, and would be blocked: {instead}")
    try:
        from asgiref.sync import async_to_sync
    except ModuleNotFoundError:
        from crontick.sql.extras import install

        raise RuntimeError(f"asgiref is not installed: {install('testing')}") from None

    async def worked() -> T:
        return await work()

    with kept_open():
        return async_to_sync(worked)()


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
