"""An event loop for a host that calls a plain function: kept between calls, and left with nothing to do."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

__all__ = ["OwnLoop"]

T = TypeVar("T")
GRACE_SECONDS: Final = 0.5
"""How long a task that was left behind may take to end when it is cancelled."""


class OwnLoop:
    """Made at the first call, whatever else in the process made and closed loops; one thread at a time calls."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def enter(self) -> asyncio.AbstractEventLoop:
        """The loop, also for those in this thread who ask asyncio for the current one."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self._loop)
        return self._loop

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """What the coroutine returns or raises."""
        return self.enter().run_until_complete(coroutine)

    def clear(self) -> bool:
        """Cancel what a function left in the loop, which would go on inside the next call; true when nothing stays."""
        loop = self.enter()
        loop.run_until_complete(asyncio.sleep(0))  # what was called soon may still make a task
        tasks = asyncio.all_tasks(loop)
        for task in tasks:
            task.cancel()
        if not tasks:
            return True
        _, pending = loop.run_until_complete(asyncio.wait(tasks, timeout=GRACE_SECONDS))
        return not pending
