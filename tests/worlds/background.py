"""An event loop in a thread of its own, so that a double answers also while the test's own loop is blocked."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Background:
    """The loop, for those who are not in it."""

    loop: asyncio.AbstractEventLoop

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns, run there."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(30)


@contextmanager
def background() -> Iterator[Background]:
    """The loop turns until the block is left; what still runs in it is cancelled."""
    started: list[asyncio.AbstractEventLoop] = []
    ready = threading.Event()

    async def turn() -> None:
        started.append(asyncio.get_running_loop())
        stopping.append(asyncio.Event())
        ready.set()
        await stopping[0].wait()

    stopping: list[asyncio.Event] = []
    thread = threading.Thread(target=lambda: asyncio.run(turn()), name="double")
    thread.start()
    ready.wait(30)
    try:
        yield Background(started[0])
    finally:
        started[0].call_soon_threadsafe(stopping[0].set)
        thread.join(30)
