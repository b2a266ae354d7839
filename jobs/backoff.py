"""How long a failed job waits before its next attempt."""

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Final, TypeAlias

import msgspec

__all__ = ["DEFAULT", "Backoff", "Exponential", "delay_seconds", "normal"]

_LONGEST: Final = 30 * 86400.0
_JITTER: Final = 0.1
_JITTER_AT_MOST: Final = 60.0


class Exponential(msgspec.Struct, frozen=True):
    """``base`` seconds, times ``factor`` for each further attempt, ``cap`` seconds at most."""

    base: float = 60
    factor: float = 2
    cap: float = 86400

    def seconds(self, attempt: int) -> float:
        """Without jitter, after that attempt."""
        delay = self.base
        for _ in range(attempt - 1):
            delay *= self.factor
            if delay >= self.cap:
                return self.cap
        return min(delay, self.cap)


class _Steps(msgspec.Struct, frozen=True):
    steps: tuple[float, ...]

    def seconds(self, attempt: int) -> float:
        return self.steps[min(attempt, len(self.steps)) - 1]


Backoff: TypeAlias = Exponential | _Steps
DEFAULT: Final = _Steps((60, 300, 1800, 7200))


def normal(backoff: Sequence[timedelta | float] | Exponential | None) -> Backoff:
    """A backoff as kinds declare it: delays in seconds or as timedeltas, the last one repeated. None is the default."""
    if backoff is None:
        return DEFAULT
    if isinstance(backoff, Exponential):
        return backoff
    steps = tuple(step.total_seconds() if isinstance(step, timedelta) else float(step) for step in backoff)
    if not steps or min(steps) < 0:
        raise ValueError("a backoff is a list of at least one delay, none of them negative")
    return _Steps(steps)


def delay_seconds(backoff: Backoff, attempt: int) -> float:
    """The delay after that attempt (from 1), with jitter that only ever adds: up to 10 %, 60 s at most."""
    delay = min(backoff.seconds(max(attempt, 1)), _LONGEST)
    return max(1.0, delay + random.uniform(0, min(delay * _JITTER, _JITTER_AT_MOST)))  # noqa: S311 (no secret)
