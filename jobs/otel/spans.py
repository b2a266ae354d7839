"""Our own OpenTelemetry: spans wait in memory for the end of a tick, and go out without any secret in them."""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Final

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider

from crontick.jobs.context import Context
from crontick.jobs.otel.traced import attempt
from crontick.jobs.redact import REDACTED

__all__ = ["Ended", "OwnProvider", "encoded"]

Clean = Callable[[str], str]
MOST: Final = 4096
"""Spans that wait; of more the oldest are dropped."""


class Ended(SpanProcessor):
    """What ended since it was last taken, each with the attempt in which it did."""

    def __init__(self) -> None:
        self._spans: deque[tuple[ReadableSpan, Context | None]] = deque(maxlen=MOST)
        self._lock = threading.Lock()

    def on_end(self, span: ReadableSpan) -> None:
        """Keep it, if it was sampled."""
        context = span.get_span_context()
        if context is not None and context.trace_flags.sampled:
            with self._lock:
                self._spans.append((span, attempt.get()))

    def take(self) -> list[tuple[ReadableSpan, Context | None]]:
        """All of it, once."""
        with self._lock:
            taken = list(self._spans)
            self._spans.clear()
        return taken


class OwnProvider(TracerProvider):
    """One a process: ticks at the same time share it, and the first to end tells what ended in the others.

    Nothing runs beside the ticks: no thread of the SDK's exports, and none is waited for at the end of the process.
    """

    def __init__(self, attributes: Mapping[str, str]) -> None:
        super().__init__(resource=Resource.create(dict(attributes)), shutdown_on_exit=False)
        self.crontick_ended = Ended()
        self.add_span_processor(self.crontick_ended)


def encoded(taken: Iterable[tuple[ReadableSpan, Context | None]], redact: Clean) -> bytes:
    """The body of a POST to ``/v1/traces``; also what functions put into spans of their own is redacted by value."""
    taken = list(taken)
    hides = {span.context.span_id.to_bytes(8, "big"): ctx.hides for span, ctx in taken if span.context and ctx}
    request = encode_spans([span for span, _ in taken])
    for told in chain.from_iterable(scope.spans for each in request.resource_spans for scope in each.scope_spans):
        _clean(told, _both(redact, hides.get(told.span_id, str)))
    return bytes(request.SerializeToString())


def _both(redact: Clean, hide: Clean) -> Clean:
    return redact if hide is str else lambda text: redact(hide(text))


def _clean(span: Span, clean: Clean) -> None:
    span.name = clean(span.name)
    if span.status.message:
        span.status.message = clean(span.status.message)
    for event in span.events:
        event.name = clean(event.name)
    for attribute in chain(span.attributes, *(each.attributes for each in chain(span.events, span.links))):
        _clean_value(attribute.value, clean)


def _clean_value(value: AnyValue, clean: Clean) -> None:
    match value.WhichOneof("value"):
        case "string_value":
            value.string_value = clean(value.string_value)
        case "int_value" | "double_value" as held if clean(number := str(getattr(value, held))) != number:
            value.string_value = REDACTED
        case "array_value":
            for each in value.array_value.values:
                _clean_value(each, clean)
        case "kvlist_value":
            for pair in value.kvlist_value.values:
                _clean_value(pair.value, clean)
