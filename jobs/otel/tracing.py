"""Whose tracer a tick uses: the app's, where it has set one, else our own where ``CRONTICK_TRACES`` asks for it."""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import msgspec

from crontick.jobs.deployment import Deployment
from crontick.jobs.in_thread import in_thread
from crontick.jobs.otel.collector import Collector, resource
from crontick.sql import VERSION

if TYPE_CHECKING:
    from opentelemetry.trace import Tracer

    from crontick.jobs.otel.spans import Ended

__all__ = ["Tracing", "tracing"]

Flush = Callable[[float], Awaitable[str | None]]
"""Tells what ended, within so many seconds; None once it is told, else a sentence that says why not."""
_NOT_FLUSHED: Final = "the app's TracerProvider did not tell its spans in time"


class Tracing(msgspec.Struct, frozen=True):
    """A tracer, and how its spans go out before the tick is answered."""

    tracer: "Tracer"
    flush: Flush


def tracing(deployment: Deployment, collector: Collector) -> Tracing | None:
    """None where nobody wants traces. Raises ``ImportError`` where ``CRONTICK_TRACES`` does and the extra is missing.

    Our own provider becomes the global one, so that the spans of functions are told with those of their attempts.
    """
    wanted = deployment.settings.traces is not None
    if not wanted and "opentelemetry.trace" not in sys.modules:
        return None
    from opentelemetry import trace

    provider: Any = trace.get_tracer_provider()
    unset = isinstance(provider, trace.ProxyTracerProvider)
    ours = "crontick.jobs.otel.spans" in sys.modules and hasattr(provider, "crontick_ended")
    if not wanted and (unset or ours):
        return None
    if not unset and not ours:
        return Tracing(provider.get_tracer("crontick", VERSION), partial(_flushed, provider))
    if unset:
        from crontick.jobs.otel.spans import OwnProvider

        provider = OwnProvider(resource(os.environ, deployment.settings.environment))
        trace.set_tracer_provider(provider)
    tell = partial(_told, provider.crontick_ended, collector, deployment)
    return Tracing(provider.get_tracer("crontick", VERSION), tell)


async def _told(ended: "Ended", collector: Collector, deployment: Deployment, seconds: float) -> str | None:
    from crontick.jobs.otel.spans import encoded

    if not (taken := ended.take()):
        return None
    body = encoded(taken, deployment.redact)
    return await collector.post("traces", body, content_type="application/x-protobuf", seconds=seconds)


async def _flushed(provider: Any, seconds: float) -> str | None:
    """On a thread: the app's exporter may take what time it likes, and holds up neither tick nor process."""
    if not hasattr(provider, "force_flush"):  # one that drops all spans
        return None
    try:
        async with asyncio.timeout(seconds):
            flushed = await in_thread(lambda: provider.force_flush(int(seconds * 1000)), "crontick-flush")
    except Exception:  # noqa: BLE001 (an exporter of the app's harms no tick)
        return _NOT_FLUSHED
    return _NOT_FLUSHED if flushed is False else None
