"""The attempts of a tick that run at the same time, and the moment to write down how they ended.

Lean on purpose: one timer over a queue for each time-out in place of a time-out a job, endings appended by the attempt
itself, one future that wakes the loop.
"""

import asyncio
from collections import Counter, deque
from collections.abc import Iterable
from typing import Final

from crontick.jobs.context import Context
from crontick.jobs.ending import Ending
from crontick.jobs.outcomes import Cut
from crontick.jobs.run import Runs
from crontick.jobs.stop import Stop

__all__ = ["Seats"]

LINGER_SECONDS: Final = 1.0
"""With nothing more due, endings wait for each other this long at most."""
LINGER_AT_LEAST_SECONDS: Final = 0.005
LOOK_SECONDS: Final = 5.0
"""While attempts run and none ends, the database is asked this often: who was asked to stop, what came due."""
GRACE_SECONDS: Final = 1.0
"""How long a cancelled attempt may take to clean up before it is written off."""


class _Attempt:
    __slots__ = ("ctx", "expires_at", "over", "task")

    def __init__(self, ctx: Context, expires_at: float) -> None:
        self.ctx = ctx
        self.expires_at = expires_at
        self.over = False
        self.task: asyncio.Task[None] | None = None


class Seats:
    """The attempts that run, all of them cut ``cut_in_seconds`` from now at the latest."""

    def __init__(self, runner: Runs, cut_in_seconds: float, stop: Stop | None = None) -> None:
        self._runner = runner
        self._loop = asyncio.get_running_loop()
        self._stop = stop or Stop()
        self._stop.attempts = self
        self._cut_at = self._loop.time() + min(cut_in_seconds, self._stop.cut_in_seconds())
        self._running: dict[int, _Attempt] = {}
        self._queues: dict[float, deque[_Attempt]] = {}
        self._ended: list[Ending] = []
        self._urgent = False
        self._any_end = False
        self._look = False
        self._wake: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._deadline = self._loop.call_at(self._cut_at, self._cut_all)
        self.stuck = False
        """A thread, or a coroutine that swallows its cancellation, runs on: the process should retire (P7)."""

    @property
    def running(self) -> int:
        """How many attempts run."""
        return len(self._running)

    def running_by_queue(self) -> Counter[str]:
        """How many attempts of each queue run."""
        return Counter(attempt.ctx.job.queue for attempt in self._running.values())

    @property
    def suspect(self) -> bool:
        """A suspect runs: nothing else may run beside it."""
        return any(attempt.ctx.job.suspect for attempt in self._running.values())

    def start(self, contexts: Iterable[Context]) -> None:
        """Begin these attempts now."""
        now = self._loop.time()
        soonest = self._cut_at
        for ctx in contexts:
            seconds = ctx.kind.timeout_seconds
            attempt = _Attempt(ctx, now + seconds)
            self._running[ctx.job.id] = attempt
            if attempt.expires_at < self._cut_at:
                self._queues.setdefault(seconds, deque()).append(attempt)
                soonest = min(soonest, attempt.expires_at)
            attempt.task = self._loop.create_task(self._live(attempt))
        if soonest < self._cut_at and (self._timer is None or soonest < self._timer.when()):
            self._set_timer()

    def ask_to_stop(self, ids: Iterable[int]) -> None:
        """Tell functions that somebody cancelled their jobs; they end when they notice (P10)."""
        for job in ids:
            if attempt := self._running.get(job):
                attempt.ctx.cancel_requested = True

    def look(self) -> None:
        """Something may have come due: whoever waits for endings is to ask the database now."""
        self._loop.call_soon_threadsafe(self._look_now)

    def cut_within(self, seconds: float) -> None:
        """Cut what still runs after so many seconds."""
        self._loop.call_soon_threadsafe(self._cut_sooner, self._loop.time() + seconds)

    def progress(self) -> list[Context]:
        """The running attempts that have said how far they are."""
        return [a.ctx for a in self._running.values() if a.ctx.progress_made is not None]

    async def ended(self, *, more: bool, trip_seconds: float, at_once: bool = False) -> list[Ending]:
        """The attempts that ended, once it is worth a round trip to say so; may be empty while attempts run on.

        ``at_once``: there is something to ask the database anyway.
        """
        if not self._ended and self._running and not at_once and not self._look:
            await self._until(self._loop.time() + LOOK_SECONDS, any_end=True)
        if self._ended and self._running and not self._urgent and not at_once and not self._look:
            linger = max(trip_seconds, LINGER_AT_LEAST_SECONDS) if more else LINGER_SECONDS
            await self._until(self._loop.time() + linger, any_end=False)
        endings, self._ended, self._urgent, self._look = self._ended, [], False, False
        return endings

    async def close(self) -> list[Ending]:
        """No attempt is left behind: what still runs is cancelled and given a moment. Returns what nobody fetched."""
        if self._stop.attempts is self:
            self._stop.attempts = None
        self._deadline.cancel()
        if self._timer is not None:
            self._timer.cancel()
        if left := [a.task for a in self._running.values() if a.task is not None]:
            for task in left:
                task.cancel()
            await asyncio.wait(left, timeout=GRACE_SECONDS)
        return self._ended

    async def _live(self, attempt: _Attempt) -> None:
        try:
            ending = await self._runner.run(attempt.ctx)
        except GeneratorExit as error:  # of a future: it closes all that wait for it, and comes out here alone
            if not self._loop.is_running():
                raise
            ending = self._runner.raised(attempt.ctx, error)
        if not attempt.over:
            if not attempt.ctx.kind.is_async and attempt.ctx.cut is not None:
                self.stuck = True
                attempt.ctx.close()
            self._end(attempt, ending)

    def _end(self, attempt: _Attempt, ending: Ending) -> None:
        attempt.over = True
        self._running.pop(attempt.ctx.job.id, None)
        self._ended.append(ending)
        if ending.marks or ending.ctx.job.group_key is not None:
            self._urgent = True
        wake = self._wake
        if wake is not None and not wake.done() and (self._urgent or not self._running or self._any_end):
            wake.set_result(None)

    async def _until(self, at: float, *, any_end: bool) -> None:
        """Until then, or all ended, or one that must not wait, or (any_end) the first."""
        self._any_end = any_end
        self._wake = wake = self._loop.create_future()
        timer = self._loop.call_at(at, _wake, wake)
        try:
            await wake
        finally:
            timer.cancel()
            self._wake = None

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        heads = [queue[0].expires_at for queue in self._queues.values() if queue]
        if heads:
            self._timer = self._loop.call_at(min(heads), self._sweep)

    def _sweep(self) -> None:
        now = self._loop.time()
        for queue in self._queues.values():
            while queue and (queue[0].over or queue[0].expires_at <= now):
                attempt = queue.popleft()
                if not attempt.over:
                    self._cut(attempt, "timeout")
        self._set_timer()

    def _look_now(self) -> None:
        self._look = True
        if self._wake is not None:
            _wake(self._wake)

    def _cut_sooner(self, at: float) -> None:
        if at < self._cut_at:
            self._cut_at = at
            self._deadline.cancel()
            self._deadline = self._loop.call_at(at, self._cut_all)

    def _cut_all(self) -> None:
        for attempt in list(self._running.values()):
            self._cut(attempt, "deadline")

    def _cut(self, attempt: _Attempt, why: Cut) -> None:
        if attempt.ctx.cut is None and attempt.task is not None:
            attempt.ctx.cut = why
            attempt.task.cancel()
            self._loop.call_later(GRACE_SECONDS, self._write_off, attempt)

    def _write_off(self, attempt: _Attempt) -> None:
        """It swallowed its cancellation: its job must not wait for it."""
        if attempt.over:
            return
        self.stuck = True
        attempt.ctx.close()
        self._end(attempt, self._runner.write_off(attempt.ctx))


def _wake(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
