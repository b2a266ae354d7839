"""How the end of a standalone process reaches the tick that runs in it."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from crontick.jobs.stop import Stop


@contextmanager
def asked_by_sigterm(stop: Stop) -> Iterator[None]:
    """While inside, SIGTERM asks the tick to claim no more, and then does what it did before."""
    if threading.current_thread() is not threading.main_thread():
        yield  # a server in a thread of a test: signals are not its business
        return
    before = signal.getsignal(signal.SIGTERM)

    def chained(number: int, frame: FrameType | None) -> None:
        stop.ask()
        if callable(before):
            before(number, frame)
        elif before == signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    signal.signal(signal.SIGTERM, chained)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def retire() -> None:
    """Ask this process to end the way its host would: answers go out first, then the server stops."""
    os.kill(os.getpid(), signal.SIGTERM)
