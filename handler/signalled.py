"""What signals ask of a process that ends by itself: the first to end in good time, the third to end now."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
ENOUGH: Final = 3


@contextmanager
def signalled(asked: Callable[[], None]) -> Iterator[None]:
    """``asked`` is called by the first; a second changes nothing, for whoever sends two may only be making sure.

    Not by way of the event loop: a loop that is blocked would never learn of the third.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what signals do
        return
    count = 0

    def came(number: int, _: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count == 1:
            asked()
        elif count == ENOUGH:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    before = {number: signal.signal(number, came) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
