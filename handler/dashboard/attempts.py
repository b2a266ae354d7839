"""How often wrong secrets came lately, so that nobody tries many."""

import time
from collections import deque
from collections.abc import Callable
from typing import Final

WITHIN_SECONDS: Final = 60
OF_ONE_ADDRESS: Final = 5
OF_ALL: Final = 100
"""Whoever has many addresses shares this; it also bounds what is kept."""


class Attempts:
    """What this process saw: it is asked before any database may be (P30)."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failed: deque[tuple[float, str]] = deque(maxlen=OF_ALL)

    def failed(self, address: str) -> None:
        """Note a wrong secret."""
        self._failed.append((self._clock(), address))

    def wait_seconds(self, address: str) -> int:
        """For how long nothing is compared that comes from there; 0 where it may be."""
        now = self._clock()
        while self._failed and self._failed[0][0] <= now - WITHIN_SECONDS:
            self._failed.popleft()
        own = [at for at, failed in self._failed if failed == address]
        if len(self._failed) >= OF_ALL:
            return _until(self._failed[0][0], now)
        return _until(own[-OF_ONE_ADDRESS], now) if len(own) >= OF_ONE_ADDRESS else 0


def _until(at: float, now: float) -> int:
    return max(1, round(at + WITHIN_SECONDS - now))
