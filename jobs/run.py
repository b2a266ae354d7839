"""Run one attempt to its end: whatever the function does, the answer is one outcome."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import msgspec

from crontick.jobs import texts
from crontick.jobs.backoff import delay_seconds
from crontick.jobs.context import Context
from crontick.jobs.ending import PLAIN, Ending, before, ended, told
from crontick.jobs.interrupts import is_ctrl_c
from crontick.jobs.once import InDoubt
from crontick.jobs.outcomes import Cancelled, Dead, Failed, HandedBack, Outcome, Snoozed, Succeeded
from crontick.jobs.payload import PayloadError
from crontick.jobs.signals import Cancel, LeaseLost, Permanent, Retry, Snooze
from crontick.jobs.threads import SyncSide

if TYPE_CHECKING:
    from crontick.jobs.sealing import Keyring

__all__ = ["Runner", "Runs"]

ERROR_CHARACTERS: Final = 4000
HAND_BACKS: Final = 3
"""In a row; after that the attempt counts as failed: it does not end inside a tick (P6)."""
MISFIT: Final = "crontick:payload"
"""The fingerprint by which a second misfit in a row is known."""
_MISFIT_RETRY_SECONDS: Final = 300.0
_NOT_COMMITTED: Final = "crontick:not-committed"
SEALED: Final = '"$sealed"'
"""What a payload with sealed fields has in its text."""
SCHEDULED: Final = '"$schedule"'
"""What the payload of a schedule's job has in its text."""
TRACED: Final = '"$trace"'
"""What the payload of a job that was enqueued in a trace has in its text."""
_LOG: Final = logging.getLogger("crontick.run")


class Runs(Protocol):
    """What runs the attempts of a tick."""

    async def run(self, ctx: Context) -> Ending:
        """One attempt, to its end."""
        ...

    def raised(self, ctx: Context, error: BaseException) -> Ending:
        """The ending of an attempt that raised this past ``run``."""
        ...

    def write_off(self, ctx: Context) -> Ending:
        """The ending of an attempt that swallowed its cancellation, and runs on."""
        ...


class Runner:
    """What every attempt of a tick shares: threads for sync functions, the hook around them, the redaction of texts."""

    __slots__ = ("_around", "_keyring", "_redact", "_sync_side")

    def __init__(
        self,
        around: Callable[[Context], Any] | None,
        sync_side: SyncSide,
        redact: Callable[[str], str],
        keyring: "Keyring | None" = None,
    ) -> None:
        self._around = around
        self._sync_side = sync_side
        self._redact = redact
        self._keyring = keyring

    async def run(self, ctx: Context) -> Ending:
        """What the function raised becomes its outcome. Raises only what ends the process: a Ctrl-C, a closed loop."""
        early = before(ctx)
        if early is not None:
            return told(ended(ctx, early))
        try:
            if ctx.job.unique_key is not None and (reason := await ctx.supplies.not_wanted(ctx.job)):
                return ended(ctx, Cancelled(reason))
            payload = await self._payload(ctx)
            if isinstance(payload, Ending):
                return payload
            value = await self._call(ctx, payload)
            outcome: Outcome = PLAIN if value is None else Succeeded(ctx.result_text(value))
            if ctx.completing:
                ctx.target = ctx.target or "ok"  # it returned, whatever becomes of its transaction
                outcome = self._uncommitted(ctx)
        except asyncio.CancelledError:
            outcome = self._cut(ctx, runs_on=not ctx.kind.is_async)
        except BaseException as error:  # whatever a function raises is its own job's affair
            if is_ctrl_c(error) or not ctx.loop.is_running():
                raise
            if isinstance(error, MemoryError):
                error.__traceback__ = None  # its frames hold what filled the memory, and the next lines need some
            outcome = self._raised(ctx, error)
        return told(ended(ctx, outcome))

    async def _payload(self, ctx: Context) -> Any:
        """In clear and typed; an ending where it cannot be had."""
        try:
            if ctx.kind.secret or SEALED in ctx.job.payload_text:
                from crontick.jobs.opened import open_job

                if missing_key := open_job(ctx, self._keyring):
                    return ended(ctx, HandedBack(began=False, missing_key=missing_key))
            text = ctx.job.payload_text
            if SCHEDULED in text:
                from crontick.jobs.scheduled import slot_of

                text, ctx.schedule = slot_of(text)
            if TRACED in text:
                from crontick.jobs.trace_context import without

                text, _ = without(text)
            return ctx.kind.payload.decode(text)
        except PayloadError as error:
            return told(ended(ctx, await self._misfit(ctx, error)))

    async def _call(self, ctx: Context, payload: object) -> Any:
        kind = ctx.kind
        function = partial(kind.function, payload, ctx) if kind.takes_context else partial(kind.function, payload)
        if self._around is not None:
            from crontick.jobs.around import call_within

            return await call_within(self._around(ctx), function, None if kind.is_async else self._sync_side)
        return await (function() if kind.is_async else self._sync_side.run(function))

    def raised(self, ctx: Context, error: BaseException) -> Ending:
        """The ending of an attempt that raised this."""
        return told(ended(ctx, self._raised(ctx, error)))

    def _raised(self, ctx: Context, error: BaseException) -> Outcome:
        if ctx.kind.breaker and ctx.target is None:
            from crontick.jobs.target import told_by

            ctx.target = told_by(error)
        if ctx.completing:
            _LOG.warning("job %s raised after complete: %s", ctx.job.id, self._text(ctx, error))
        match error:
            case Snooze():
                return Snoozed(error.delay_seconds)
            case Cancel():
                return Cancelled(self._redact(ctx.hides(texts.storable(error.reason, limit=1000))))
            case InDoubt() if ctx.kind.in_doubt == "skip":
                return Succeeded(duplicate=True, note=self._text(ctx, error))
            case InDoubt():
                return Dead(self._text(ctx, error), "in doubt", "crontick:in-doubt")
            case Permanent():
                return Dead(self._text(ctx, error), _public(ctx, error), self._fingerprint(ctx, error), _status(error))
            case LeaseLost():
                return Failed(
                    self._text(ctx, error), "the lease was lost", self._retry_seconds(ctx), "crontick:lease-lost"
                )
            case Retry():
                return self._failed(ctx, error, retry_seconds=error.after_seconds, status_code=_status(error))
        ctx.trace = self._redact(texts.frames(error))
        return self._failed(ctx, error)

    def _failed(
        self,
        ctx: Context,
        error: BaseException,
        *,
        public: str | None = None,
        retry_seconds: float | None = None,
        status_code: int | None = None,
    ) -> Outcome:
        text, public = self._text(ctx, error), public or _public(ctx, error)
        fingerprint = self._fingerprint(ctx, error)
        if ctx.cancel_requested:
            return Cancelled(f"asked to stop, it ended in: {text}")
        if ctx.job.attempt >= (ctx.job.own_max_attempts or ctx.kind.max_attempts):
            return Dead(text, public, fingerprint, status_code)
        return Failed(text, public, retry_seconds or self._retry_seconds(ctx), fingerprint, status_code)

    def _uncommitted(self, ctx: Context) -> Outcome:
        """What the attempt comes to if the transaction in which it called complete did not commit (P8)."""
        said = "complete was not committed"
        outcome = self._failed(ctx, RuntimeError(said), public=said)
        return (
            msgspec.structs.replace(outcome, fingerprint=_NOT_COMMITTED)
            if isinstance(outcome, Failed | Dead)
            else outcome
        )

    def write_off(self, ctx: Context) -> Ending:
        """The ending of an attempt that swallowed its cancellation, and runs on."""
        return told(ended(ctx, self._cut(ctx, runs_on=True)))

    def _cut(self, ctx: Context, *, runs_on: bool) -> Outcome:
        """The engine ended the attempt. What runs on must have lost its lease before anybody else runs the job (P7)."""
        lease_seconds = max(1.0, ctx.lease_left) if runs_on else 0.0
        if ctx.cut is None:
            return self._failed(ctx, RuntimeError("the function was cancelled from inside"))
        if ctx.cut == "deadline" and ctx.job.handed_back < HAND_BACKS:
            return HandedBack(began=True, delay_seconds=lease_seconds)
        said = (
            f"it did not end within {ctx.kind.timeout_seconds:g} s"
            if ctx.cut == "timeout"
            else "it did not end inside a tick"
        )
        retry_seconds = max(self._retry_seconds(ctx), lease_seconds)
        outcome = self._failed(ctx, TimeoutError(said), public=said, retry_seconds=retry_seconds)
        return msgspec.structs.replace(outcome, runs_on=runs_on) if isinstance(outcome, Failed) else outcome

    async def _misfit(self, ctx: Context, error: PayloadError) -> Outcome:
        """A payload that does not fit is tried once more, after a rolling deploy had time to end, then dead (P14)."""
        text = self._text(ctx, error)
        if ctx.job.attempt > 1 and await ctx.supplies.misfit_before(ctx.job):
            return Dead(text, "the payload does not fit its kind", MISFIT)
        return Failed(text, "the payload does not fit its kind", _MISFIT_RETRY_SECONDS, MISFIT)

    def _retry_seconds(self, ctx: Context) -> float:
        return delay_seconds(ctx.kind.backoff, ctx.job.attempt)

    def _text(self, ctx: Context, error: BaseException) -> str:
        described = texts.describe(error)
        if isinstance(error, Permanent | Retry) and error.detail:
            described = f"{described}: {texts.storable(error.detail, limit=ERROR_CHARACTERS)}"
        return texts.storable(self._redact(ctx.hides(described)), limit=ERROR_CHARACTERS)

    def _fingerprint(self, ctx: Context, error: BaseException) -> str:
        """Taken after the redaction: of a clear text it would answer who guesses at a secret."""
        return texts.fingerprint(self._redact(ctx.hides(texts.describe(error))))


def _public(ctx: Context, error: BaseException) -> str:
    """An error in crontick's own words: the kinds that ship choose theirs, of others only the class is told (P31)."""
    if ctx.kind.function.__module__.startswith("crontick.jobs.kinds.") and isinstance(error, Permanent | Retry):
        return ctx.hides(texts.storable(error.reason, limit=200))
    return type(error).__name__


def _status(error: Permanent | Retry) -> int | None:
    """The status code of an answer; None for a number that is none, so that it costs the attempt nothing it said."""
    code: object = error.status_code
    return int(code) if isinstance(code, int) and 100 <= code <= 599 else None
