"""How somebody outside reaches a running tick: to look at the database now, to claim no more, to end in time."""

import math
import time
from typing import Protocol

__all__ = ["Attempts", "Stop"]


class Attempts(Protocol):
    """The running attempts of one tick. Both may be called from a signal handler and from any thread."""

    def look(self) -> None:
        """Have the tick ask the database at once, without waiting for an attempt to end."""
        ...

    def cut_within(self, seconds: float) -> None:
        """Cut what still runs then, as at the deadline."""
        ...


class Stop:
    """Asked once and never taken back; a tick looks before each claim and ends with ``stop_reason`` shutdown.

    Safe to ask from a signal handler and from any thread.
    """

    __slots__ = ("_cut_at", "asked", "attempts")

    def __init__(self) -> None:
        self.asked = False
        self.attempts: Attempts | None = None
        """Of the tick that began last, while it runs."""
        self._cut_at = math.inf

    def ask(self, *, cut_in_seconds: float = math.inf) -> None:
        """Have the tick end early, its attempts cut then at the latest; asking again changes nothing."""
        if self.asked:
            return
        self._cut_at = time.monotonic() + cut_in_seconds
        self.asked = True
        if self.attempts is not None and cut_in_seconds < math.inf:
            self.attempts.cut_within(cut_in_seconds)

    def cut_in_seconds(self) -> float:
        """How long attempts may still run, as far as this goes."""
        return max(self._cut_at - time.monotonic(), 0.0)
