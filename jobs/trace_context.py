"""The trace that a job belongs to, as W3C Trace Context beside its payload: carried with or without OpenTelemetry."""

import re
import sys
from typing import Final

import msgspec

from crontick.jobs.payload import PAYLOAD_BYTES, stored_bytes
from crontick.jobs.run import TRACED

__all__ = ["TraceContext", "carrying", "current", "read", "traceparent", "without"]

_TRACEPARENT: Final = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_STATE_CHARACTERS: Final = 512
_ROOM_BYTES: Final = 2 * _STATE_CHARACTERS


class TraceContext(msgspec.Struct, frozen=True, omit_defaults=True):
    """The two headers of W3C Trace Context; baggage is never carried."""

    traceparent: str
    tracestate: str = ""


def read(traceparent: str, tracestate: str = "") -> TraceContext | None:
    """None for what names no trace, as the specification wants it; a state that cannot be carried is left out."""
    if not _TRACEPARENT.fullmatch(traceparent):
        return None
    fits = len(tracestate) <= _STATE_CHARACTERS and tracestate.isascii() and tracestate.isprintable()
    return TraceContext(traceparent, tracestate if fits else "")


def current() -> TraceContext | None:
    """Of the span that is current; None where there is none, or this process never imported OpenTelemetry."""
    if "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import trace

    span = trace.get_current_span().get_span_context()
    if not span.is_valid:
        return None
    parent = f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"
    return read(parent, span.trace_state.to_header())


def carrying(payload_text: str, context: TraceContext | None) -> str:
    """The payload with the context as its ``$trace``; as it is where it has one, has no fields, or has no room left."""
    text = payload_text.strip()
    if (
        context is None
        or TRACED in text
        or not text.startswith("{")
        or stored_bytes(text) + _ROOM_BYTES > PAYLOAD_BYTES
    ):
        return payload_text
    fields = text[:-1].rstrip()
    return f"{fields}{'' if fields == '{' else ','}{TRACED}:{msgspec.json.encode(context).decode()}}}"


def without(payload_text: str) -> tuple[str, TraceContext | None]:
    """The payload without ``$trace``, and what that said; as it was where it holds something else of that name."""
    if TRACED not in payload_text:
        return payload_text, None
    try:
        fields = msgspec.json.decode(payload_text, type=dict[str, msgspec.Raw])
        told = msgspec.json.decode(fields.pop("$trace", b"null"), type=TraceContext)
    except (msgspec.MsgspecError, RecursionError):
        return payload_text, None
    return msgspec.json.encode(fields).decode(), read(told.traceparent, told.tracestate)


def traceparent(payload_text: str) -> str | None:
    """What a request of this attempt says of its trace: the current span, else the one that the job was enqueued in."""
    context = current() or without(payload_text)[1]
    return None if context is None else context.traceparent
