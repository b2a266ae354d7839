"""Ticks for a host that never sleeps: one whenever a job is enqueued or comes due, and one now and then in any case."""

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final, Literal

from crontick.jobs.listen import Listening
from crontick.jobs.memory import nearly_full
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary

__all__ = ["Ended", "Watch"]

Ended = Literal["asked", "memory", "retired"]
"""Somebody asked it to; the process is nearly full; a thread of it cannot be stopped (P7)."""
_AT_ONCE: Final = 10.0
"""So many ticks may follow what is heard at once; in the long run it is one a second."""
_NUDGE_SECONDS: Final = 0.25
_LONGEST_BACKOFF_SECONDS: Final = 30.0
_BEHIND_SECONDS: Final = 0.002
"""A tick that comes a moment early finds nothing, and costs one more."""


class Watch:
    """``run_tick`` answers a summary, or None when there was no tick: that was told, and is tried again later."""

    def __init__(self, run_tick: Callable[[], Awaitable[Summary | None]], stop: Stop, *, every_seconds: float) -> None:
        self._run_tick = run_tick
        self._stop = stop
        self._every_seconds = every_seconds
        self._wake = asyncio.Event()
        self._heard = False
        self._vain = 0
        self._failed = 0
        self._pace = _Pace()
        self._nudge: asyncio.TimerHandle | None = None

    async def run(self, url: str) -> Ended:
        """Until it is asked to stop, or this process should take no further tick."""
        listening = Listening(url, every_seconds=self._every_seconds, on_heard=self._hear, on_back=self._back)
        ears = asyncio.create_task(listening.run())
        try:
            while not self._stop.asked:
                self._heard = False
                summary = await self._run_tick()
                if summary is not None and summary.retire:
                    return "retired"
                if nearly_full():
                    return "memory"
                if not self._stop.asked:
                    await self._rest(await self._rest_seconds(summary, listening))
            return "asked"
        finally:
            if self._nudge is not None:
                self._nudge.cancel()
            ears.cancel()
            with suppress(asyncio.CancelledError):
                await ears
            await listening.close()

    def stopped(self) -> None:
        """The stop was asked: do not wait any longer."""
        self._wake.set()

    def _hear(self) -> None:
        """Something may be due: for the tick that runs, as soon as it may look again, or for the next one."""
        self._heard = True
        if not self._failed:
            self._wake.set()
        if self._nudge is None and self._stop.attempts is not None:
            self._nudge = asyncio.get_running_loop().call_later(_NUDGE_SECONDS, self._nudged)
            self._stop.attempts.look()

    def _back(self) -> None:
        """Nobody knows what was notified meanwhile; and where ticks failed, they may work again."""
        self._failed = 0
        self._hear()

    def _nudged(self) -> None:
        self._nudge = None
        if self._heard and self._stop.attempts is not None:
            self._stop.attempts.look()

    async def _rest_seconds(self, summary: Summary | None, listening: Listening) -> float:
        if summary is None:
            self._failed += 1
            longest = min(2.0**self._failed, self._every_seconds, _LONGEST_BACKOFF_SECONDS)
            return random.uniform(longest / 2, longest)  # noqa: S311 (no secret)
        self._failed = 0
        if summary.claimed and summary.more:
            self._vain = 0
            return 0.0
        seen = await listening.look()
        due = [at for at in (summary.next_due_at, seen.next_due_at if seen else None) if at is not None]
        now = seen.at if seen else datetime.now(UTC)
        due_in_seconds = (min(due) - now).total_seconds() if due else math.inf
        if summary.not_run or summary.more:
            due_in_seconds = 0.0
        if summary.claimed or due_in_seconds > 0:
            self._vain = 0
        else:
            # It is due, and this tick could not take it: a limit, a kind of another deployment, all seats taken.
            self._vain += 1
            due_in_seconds = 2.0 ** min(self._vain - 1, 20)
        return min(max(due_in_seconds, 0.0) + _BEHIND_SECONDS, self._every_seconds)

    async def _rest(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stop.asked:
            left = until - time.monotonic()
            if self._heard and not self._failed:
                left = min(left, self._pace.wait_seconds())
            if left <= 0:
                break
            self._wake.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._wake.wait()
        if self._heard:
            self._pace.used()


class _Pace:
    """How soon a tick may follow what was heard: whoever enqueues all the time must not cause a tick for each job."""

    def __init__(self) -> None:
        self._left = _AT_ONCE
        self._at = time.monotonic()

    def wait_seconds(self) -> float:
        """Nothing while some are left."""
        now = time.monotonic()
        self._left, self._at = min(self._left + now - self._at, _AT_ONCE), now
        return max(1.0 - self._left, 0.0)

    def used(self) -> None:
        """One tick followed."""
        self._left = max(self._left - 1.0, 0.0)
