"""The collector of traces and metrics, where OpenTelemetry's own variables say that it is (OTLP over HTTP)."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import unquote, urlsplit

from crontick.jobs.deployment import Deployment
from crontick.jobs.kinds.settings import HttpSettings
from crontick.jobs.outbound import client, send
from crontick.jobs.redact import Redactor
from crontick.jobs.secrets import read_secret

if TYPE_CHECKING:
    import httpx

__all__ = ["Collector", "Signal", "Unfit", "endpoint", "own_headers", "resource"]

Signal = Literal["traces", "metrics"]
DEFAULT_ENDPOINT: Final = "http://localhost:4318"
_COMMON_HEADERS: Final = "OTEL_EXPORTER_OTLP_HEADERS"
HEADERS: Final = {_COMMON_HEADERS, "OTEL_EXPORTER_OTLP_METRICS_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"}


class Collector:
    """One tick's way to it, through the door for the operator's URLs (P35). Nothing that goes wrong is raised."""

    def __init__(self, deployment: Deployment) -> None:
        self._redact = deployment.redact
        self._http: httpx.AsyncClient | None = None
        for name in HEADERS & os.environ.keys():  # those that stand there in clear, before a function can quote one
            self._redact.learn([os.environ[name], *(value for _, value in _pairs(os.environ[name]))])

    async def post(self, signal: Signal, body: bytes, *, content_type: str, seconds: float) -> str | None:
        """None once it is taken; else a sentence in crontick's own words, which names the host only."""
        try:
            url = endpoint(os.environ, signal)
            headers = {**own_headers(os.environ, signal, self._redact), "content-type": content_type}
            if self._http is None:
                self._http = client(HttpSettings(), operator=True)
            answer = await send(self._http, url, content=body, headers=headers, seconds=seconds)
        except Exception as error:  # noqa: BLE001 (a collector that cannot be reached harms no tick)
            ours = type(error).__module__.startswith("crontick") or isinstance(error, Unfit)
            return self._redact(f"the {signal} were not taken: {error if ours else type(error).__name__}")
        if not 200 <= answer.status < 300:
            return f"the {signal} were answered {answer.status} by {urlsplit(url).hostname}"
        return None

    async def close(self) -> None:
        """Close what was opened."""
        if self._http is not None:
            await self._http.aclose()


class Unfit(ValueError):
    """A variable that says nothing that can be sent."""


def endpoint(environ: Mapping[str, str], signal: Signal) -> str:
    """That of the signal as it is; to the common one its path is added (OTLP exporter specification)."""
    if own := environ.get(f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT", "").strip():
        return own
    common = environ.get("OTEL_EXPORTER_OTLP_ENDPOINT", "").strip() or DEFAULT_ENDPOINT
    return f"{common.rstrip('/')}/v1/{signal}"


def own_headers(environ: Mapping[str, str], signal: Signal, redact: Redactor) -> dict[str, str]:
    """Those of the signal, else the common ones; most of them are keys, so that the redactor learns their values."""
    for name in (f"OTEL_EXPORTER_OTLP_{signal.upper()}_HEADERS", _COMMON_HEADERS):
        try:
            told = read_secret(environ, name)
        except ValueError as error:
            raise Unfit(str(error)) from None
        if told is None:
            continue
        redact.learn([told])
        headers = {header.lower(): value for header, value in _pairs(told)}
        redact.learn(headers.values())
        if not all(
            f"{header}{value}".isascii() and f"{header}{value}".isprintable() for header, value in headers.items()
        ):
            raise Unfit(f"{name} holds what no header can carry: write it as key=value,key=value, percent-encoded")
        return headers
    return {}


def resource(environ: Mapping[str, str], environment: str) -> dict[str, str]:
    """Who tells: ``OTEL_SERVICE_NAME`` and ``OTEL_RESOURCE_ATTRIBUTES``, and what they leave open."""
    from crontick.sql import VERSION

    told = {"service.name": "crontick", "deployment.environment.name": environment, "crontick.version": VERSION}
    told |= dict(_pairs(environ.get("OTEL_RESOURCE_ATTRIBUTES", "")))
    if name := environ.get("OTEL_SERVICE_NAME", "").strip():
        told["service.name"] = name
    return told


def _pairs(text: str) -> list[tuple[str, str]]:
    """``key=value,key=value``, percent-encoded; what is no pair is left out."""
    split = [part.partition("=") for part in text.split(",")]
    return [(unquote(key.strip()), unquote(value.strip())) for key, equals, value in split if equals and key.strip()]
