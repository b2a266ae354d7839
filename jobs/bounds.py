"""What a tick may use: time, seats, jobs, memory; and which of them ran out first."""

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from crontick.jobs.clock import Moment
from crontick.jobs.kind import Kind
from crontick.jobs.memory import nearly_full
from crontick.jobs.stop import Stop
from crontick.jobs.summary import StopReason

__all__ = ["Bounds"]

_LEASE_BEYOND_DEADLINE_SECONDS: Final = 15.0
_LEASE_BEYOND_HOST_SECONDS: Final = 5.0
_MARGIN_SHARE: Final = 0.1
_MARGIN_SECONDS: Final = (0.25, 2.0)


class Bounds(msgspec.Struct):
    """The deadline is ``budget_seconds`` from ``started``; functions are cut a margin before it, to settle in time."""

    limit: int
    concurrency: int
    budget_seconds: float
    host_limit_seconds: float | None
    stop: Stop
    usual_seconds: float = 0
    """The budget of a tick that nothing cut short, where this one was."""
    stay_seconds: float = 1.0
    """A tick with nothing else to do stays for room in a limit that comes so soon."""
    started: Moment = msgspec.field(default_factory=Moment)

    @property
    def lease_seconds(self) -> float:
        """From the tick's start: beyond the host's hard limit, or 15 s beyond the deadline (P4)."""
        if self.host_limit_seconds is not None:
            return max(self.host_limit_seconds, self.budget_seconds) + _LEASE_BEYOND_HOST_SECONDS
        return self.budget_seconds + _LEASE_BEYOND_DEADLINE_SECONDS

    @property
    def lease_left(self) -> float:
        """Seconds until a lease that is taken now ends."""
        return self.lease_seconds - self.started.elapsed_seconds()

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.budget_seconds - self.started.elapsed_seconds()

    @property
    def margin_seconds(self) -> float:
        """What settling is given: a tenth of the budget, within bounds."""
        return _margin(self.budget_seconds)

    @property
    def left_for_functions(self) -> float:
        """Seconds until functions are cut."""
        return self.left - self.margin_seconds

    def fitting(self, kinds: Iterable[Kind[Any]]) -> list[str]:
        """The kinds whose ``needs`` still fit (P6); one that never fits may start while the tick is young.

        A tick that was cut short is never young: what does not fit it may well fit the next.
        """
        usual = max(self.budget_seconds, self.usual_seconds)
        left, young = self.left_for_functions, usual - _margin(usual)
        return [
            kind.name
            for kind in kinds
            if kind.needs_seconds <= left or (kind.needs_seconds > young and left > young * 0.9)
        ]

    def exhausted(self, *, claimed: int, fitting: bool) -> StopReason | None:
        """Why nothing more may be claimed, or None."""
        if self.stop.asked:
            return "shutdown"
        if claimed >= self.limit:
            return "limit"
        if not fitting or self.left_for_functions <= 0:
            return "budget"
        if nearly_full():
            return "memory"
        return None


def _margin(budget_seconds: float) -> float:
    least, most = _MARGIN_SECONDS
    return min(max(budget_seconds * _MARGIN_SHARE, least), most)
