"""Sync functions run on daemon threads of our own: a thread cannot be stopped, so it must not hold the process."""

import asyncio
import contextvars
import queue
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol, TypeAlias, TypeVar

__all__ = ["SyncSide", "Threads", "all_end"]

T = TypeVar("T")
_NAME: Final = "crontick-function"
_MOMENT_SECONDS: Final = 0.2

_Task: TypeAlias = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop, contextvars.Context]


class SyncSide(Protocol):
    """Where sync functions run, seen from the tick's loop, and how they reach back into it."""

    async def run(self, function: Callable[[], Any]) -> Any:
        """The function's value, or what it raised."""
        ...

    def wait(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
        """What the loop answers, while the function that asks is blocked."""
        ...

    def close(self) -> None:
        """No function runs any more."""
        ...


class Threads:
    """Idle daemon threads, and more when none is idle. Never asyncio's executor, which joins its threads at exit."""

    def __init__(self) -> None:
        self._idle: list[queue.SimpleQueue[_Task | None]] = []

    async def run(self, function: Callable[[], Any]) -> Any:
        """The function's value, or what it raised. Cancelled, it returns at once and the thread runs on, unheard."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        inbox = self._idle.pop() if self._idle else self._start()
        inbox.put((function, future, loop, contextvars.copy_context()))
        try:
            value, error = await future
        except asyncio.CancelledError:
            inbox.put(None)  # whatever it is doing, it takes nothing more
            raise
        self._idle.append(inbox)
        if error is not None:
            raise error
        return value

    def wait(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
        """What the loop answers, while this thread is blocked."""
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    def close(self) -> None:
        """Let the idle threads end."""
        for inbox in self._idle:
            inbox.put(None)
        self._idle.clear()

    def _start(self) -> "queue.SimpleQueue[_Task | None]":
        inbox: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        threading.Thread(target=_work, args=(inbox,), daemon=True, name=_NAME).start()
        return inbox


def all_end() -> bool:
    """Whether every function's thread of this process has ended, or does so in a moment now that its tick is over."""
    until = time.monotonic() + _MOMENT_SECONDS
    for thread in threading.enumerate():
        if thread.name == _NAME:
            thread.join(max(until - time.monotonic(), 0))
            if thread.is_alive():
                return False
    return True


def _work(inbox: "queue.SimpleQueue[_Task | None]") -> None:
    while (task := inbox.get()) is not None:
        function, future, loop, context = task
        try:
            value, error = context.run(function), None
        except BaseException as raised:  # noqa: BLE001 (whatever it is, it belongs to the caller)
            value, error = None, raised
        try:
            loop.call_soon_threadsafe(_deliver, future, value, error)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more


def _deliver(future: "asyncio.Future[Any]", value: Any, error: BaseException | None) -> None:
    """As a result: a future takes no StopIteration, and a GeneratorExit of it closes every coroutine that waits."""
    if not future.done():
        future.set_result((value, error))
