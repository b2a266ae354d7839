"""One tick as a collector sees it: a span around it, its figures, and both told before anybody hears how it ended."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import msgspec

from crontick.jobs.deployment import Deployment
from crontick.jobs.otel.collector import Collector, resource
from crontick.jobs.otel.tracing import Tracing, tracing
from crontick.jobs.run import Runs
from crontick.jobs.summary import COUNTS, Summary
from crontick.jobs.unavailable import Unavailable

if TYPE_CHECKING:
    from opentelemetry.trace import Span

__all__ = ["Observing"]

LONGEST_SECONDS: Final = 2.0
"""For all that is told, however much of the call is left."""


class Observing:
    """Made for one tick. A collector that hangs or refuses costs its bound of time and a warning, never the tick."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._redact = deployment.redact
        self._collector = Collector(deployment)
        self._tracing: Tracing | None = None
        self._faults: list[str] = []
        try:
            self._tracing = tracing(deployment, self._collector)
        except ImportError:
            from crontick.sql.extras import install

            self._faults.append(f"CRONTICK_TRACES is set, and OpenTelemetry is not installed: {install('otel')}")
        except Exception as error:  # noqa: BLE001 (the SDK raises for some of its variables)
            said = f"{type(error).__name__}: {error}"
            self._faults.append(self._redact(f"OpenTelemetry cannot be set up, see its OTEL_ variables: {said}"))

    async def run(self, trigger: str, tick: Callable[[], Awaitable[Summary]], left: Callable[[], float]) -> Summary:
        """The tick's summary, with a warning for each thing that could not be told; what it raised is told as well."""
        try:
            with self._span(trigger) as span:
                summary = await tick()
                with suppress(Exception):  # a span of somebody's own class may raise anything
                    _describe(span, summary)
        except Exception:
            await self._tell(None, min(left(), LONGEST_SECONDS))
            raise
        for fault in [*self._faults, *await self._tell(summary, min(left(), LONGEST_SECONDS))]:
            summary.warn(fault)
        return summary

    def runner(self, runner: Runs) -> Runs:
        """One that makes a span around each attempt, where there are traces."""
        if self._tracing is None:
            return runner
        from crontick.jobs.otel.traced import TracedRunner

        return TracedRunner(runner, self._tracing.tracer)

    @contextmanager
    def _span(self, trigger: str) -> "Iterator[Span | None]":
        if self._tracing is None:
            yield None
            return
        from opentelemetry.context import attach, detach
        from opentelemetry.trace import Status, StatusCode, set_span_in_context

        try:
            span = self._tracing.tracer.start_span("tick", attributes={"crontick.trigger": self._redact(trigger)})
        except Exception as error:  # noqa: BLE001 (a sampler or a processor of the app's may raise anything)
            self._faults.append(f"the tick has no span: {type(error).__name__}")
            yield None
            return
        token = attach(set_span_in_context(span))
        try:
            yield span
        except Exception as error:
            said = error.sentence if isinstance(error, Unavailable) else "a fault of crontick"
            with suppress(Exception):  # as above
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR, said))
            raise
        finally:
            detach(token)
            with suppress(Exception):  # as above
                span.end()

    async def _tell(self, summary: Summary | None, seconds: float) -> list[str]:
        telling = [self._figures(summary, seconds)] if summary and self._deployment.settings.metrics == "otlp" else []
        if self._tracing is not None:
            telling.append(self._spans(self._tracing, seconds))
        try:
            return [said for said in await asyncio.gather(*telling) if said is not None]
        finally:
            await self._collector.close()

    async def _figures(self, summary: Summary, seconds: float) -> str | None:
        from crontick.jobs.otel.metrics import document

        told = document(summary, resource(os.environ, self._deployment.settings.environment), time.time_ns())
        body = msgspec.json.encode(told)
        return await self._collector.post("metrics", body, content_type="application/json", seconds=seconds)

    async def _spans(self, tracing: Tracing, seconds: float) -> str | None:
        try:
            return await tracing.flush(seconds)
        except Exception as error:  # noqa: BLE001 (a span that cannot be encoded harms no tick)
            return f"the traces were not told: {type(error).__name__}"


def _describe(span: "Span | None", summary: Summary) -> None:
    if span is None:
        return
    told: dict[str, int | str | bool] = {f"crontick.{name}": getattr(summary, name) for name in (*COUNTS, "scheduled")}
    told |= {"crontick.ran": summary.ran, "crontick.stop_reason": summary.not_run or summary.stop_reason}
    if summary.tick is not None:
        told["crontick.tick"] = summary.tick
    span.set_attributes(told)
