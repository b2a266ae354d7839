"""A month of one cadence: its wakes, its waits and its bill."""

from datetime import timedelta
from math import ceil
from typing import Final

import msgspec

from crontick.handler.plan.cadence import Cadence, Delays, awake, delays, wakes
from crontick.handler.plan.history import MONTH, History
from crontick.handler.plan.prices import Prices

__all__ = ["Month", "month"]

_FASTEST_ON_GITHUB: Final = timedelta(minutes=5)


class Month(msgspec.Struct, frozen=True):
    """``wakes`` and all else but ``delays`` are those of 30 days.

    GitHub's minutes take the place of the scheduler's calls; None where GitHub cannot keep that cadence.
    """

    cadence: Cadence
    wakes: float
    delays: Delays
    awake: timedelta
    scheduler_usd: float
    function_usd: float
    database_usd: float
    github_minutes: float | None
    github_usd: float | None

    @property
    def usd(self) -> float:
        """What the month costs where a scheduler calls."""
        return self.scheduler_usd + self.function_usd + self.database_usd


def month(history: History, cadence: Cadence, prices: Prices) -> Month:
    """What that cadence would have been for the history, as if a month went on like it."""
    assumed, scale = prices.assumed, MONTH / history.length
    ticks = wakes(history, cadence)
    seconds = [assumed.tick_seconds + tick.jobs * history.job_seconds for tick in ticks]
    stays_up = timedelta(seconds=assumed.database_stays_up_seconds)
    up = awake(
        (tick.at, min(tick.at + timedelta(seconds=lasts) + stays_up, history.ends_at))
        for tick, lasts in zip(ticks, seconds, strict=True)
    )
    calls, cu_hours = len(ticks) * scale, up / timedelta(hours=1) * scale * assumed.database_cu
    github_minutes = None
    if not cadence.alarms and cadence.every >= _FASTEST_ON_GITHUB:
        github_minutes = sum(max(ceil(lasts / 60), 1) for lasts in seconds) * scale
    return Month(
        cadence=cadence,
        wakes=calls,
        delays=delays(history, cadence),
        awake=up * scale,
        scheduler_usd=prices.scheduler_call.of(calls),
        function_usd=prices.function_request.of(calls)
        + prices.function_gb_second.of(sum(seconds) * assumed.function_gb * scale),
        database_usd=prices.database_cu_hour.of(cu_hours),
        github_minutes=github_minutes,
        github_usd=None if github_minutes is None else prices.github_minute.of(github_minutes),
    )
