"""How much time has passed since a moment of this process, also when the process or its machine was frozen."""

import time
from typing import Final

__all__ = ["Moment"]

_BOOT: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class Moment:
    """A moment on the monotonic and on the boot-time clock; the greater of the two differences counts (P7)."""

    __slots__ = ("_boot", "_monotonic")

    def __init__(self) -> None:
        self._monotonic = time.monotonic()
        self._boot = time.clock_gettime(_BOOT)

    def elapsed_seconds(self) -> float:
        """How long ago it was."""
        return max(time.monotonic() - self._monotonic, time.clock_gettime(_BOOT) - self._boot)
