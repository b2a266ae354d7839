"""A span around every attempt, in the trace that its job was enqueued in."""

from contextlib import suppress
from contextvars import ContextVar
from typing import Any, Final

from opentelemetry import trace
from opentelemetry.context import Context as Parent
from opentelemetry.context import attach
from opentelemetry.trace import Link, Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from crontick.jobs.context import Context
from crontick.jobs.ending import Ending
from crontick.jobs.outcomes import Cancelled, Dead, Failed, HandedBack, Snoozed, Succeeded
from crontick.jobs.run import Runs
from crontick.jobs.trace_context import without

__all__ = ["TracedRunner", "attempt"]

attempt: ContextVar[Context | None] = ContextVar("crontick_attempt", default=None)
"""The one that runs here, in whatever task or thread: it knows what hides its job's secret fields."""

_OUTCOMES: Final = {
    Succeeded: "succeeded",
    Failed: "failed",
    Dead: "dead",
    Snoozed: "snoozed",
    Cancelled: "cancelled",
    HandedBack: "handed_back",
}


class TracedRunner:
    """Runs attempts as ``runner`` does. Their span is the current one meanwhile, so that those of functions nest in it.

    What an attempt that never ends leaves behind is dropped: of a process that died no span is told.
    """

    def __init__(self, runner: Runs, tracer: Tracer) -> None:
        self._runner = runner
        self._tracer = tracer
        self._spans: dict[Context, Span] = {}

    async def run(self, ctx: Context) -> Ending:
        """One attempt, to its end."""
        # Never taken back: the task that this runs in is the attempt's own, and may be closed from another context.
        attempt.set(ctx)
        with suppress(Exception):  # a sampler or a processor of the app's may raise anything: it costs the span alone
            self._spans[ctx] = span = self._start(ctx)
            attach(trace.set_span_in_context(span))
        ending = await self._runner.run(ctx)
        self._end(ending)
        return ending

    def raised(self, ctx: Context, error: BaseException) -> Ending:
        """The ending of an attempt that raised this past ``run``."""
        ending = self._runner.raised(ctx, error)
        self._end(ending)
        return ending

    def write_off(self, ctx: Context) -> Ending:
        """The ending of an attempt that runs on."""
        ending = self._runner.write_off(ctx)
        self._end(ending)
        return ending

    def _start(self, ctx: Context) -> Span:
        job, tick = ctx.job, trace.get_current_span().get_span_context()
        carried = without(job.payload_text)[1]
        return self._tracer.start_span(
            f"process {job.kind}",
            # Without a trace of its own it belongs to the tick's.
            None if carried is None else _parent(carried.traceparent, carried.tracestate),
            SpanKind.CONSUMER,
            {
                "messaging.system": "crontick",
                "messaging.operation.type": "process",
                "messaging.operation.name": "process",
                "messaging.destination.name": job.queue,
                "messaging.message.id": str(job.id),
                "crontick.job.kind": job.kind,
                "crontick.job.first": job.lineage,
                "crontick.attempt": job.attempt,
            },
            links=[Link(tick)] if carried is not None and tick.is_valid else (),
        )

    def _end(self, ending: Ending) -> None:
        if span := self._spans.pop(ending.ctx, None):
            with suppress(Exception):  # as above
                _describe(span, ending)
                span.end()


def _describe(span: Span, ending: Ending) -> None:
    outcome = ending.outcome
    span.set_attribute("crontick.outcome", _OUTCOMES[type(outcome)])
    if isinstance(outcome, Succeeded) and outcome.duplicate:
        span.set_attribute("crontick.duplicate", True)  # noqa: FBT003 (OpenTelemetry's signature)
    if isinstance(outcome, Failed | Dead):
        span.set_attribute("error.type", outcome.public)
        span.set_status(Status(StatusCode.ERROR, outcome.error))
        span.add_event("exception", _exception(outcome, ending.ctx.trace))


def _parent(traceparent: str, tracestate: str) -> Parent:
    carrier = {"traceparent": traceparent, "tracestate": tracestate}
    return TraceContextTextMapPropagator().extract(carrier, Parent())


def _exception(outcome: Failed | Dead, trace: str) -> dict[str, Any]:
    """The job's own error and where in the code it arose: both passed the redaction when the attempt ended."""
    message = outcome.error.removeprefix(f"{outcome.public}: ")
    told = {"exception.type": outcome.public, "exception.message": message}
    return told | ({"exception.stacktrace": trace} if trace else {})
