"""Whether what is told to a collector would go anywhere."""

from collections.abc import Iterator, Mapping
from importlib.util import find_spec

from crontick.handler.cli.findings import Finding
from crontick.jobs.operator_url import check_url
from crontick.jobs.otel.collector import Signal, Unfit, endpoint, own_headers
from crontick.jobs.redact import Redactor
from crontick.jobs.settings import Settings
from crontick.sql.extras import install


def uncollected(settings: Settings, environ: Mapping[str, str]) -> Iterator[Finding]:
    """What keeps the traces and figures that the settings ask for from being sent."""
    if settings.traces is not None and not _installed():
        yield Finding(
            wrong=True, sentence=f"CRONTICK_TRACES is set, and OpenTelemetry is not installed: {install('otel')}"
        )
    wanted: dict[Signal, bool] = {"metrics": settings.metrics == "otlp", "traces": settings.traces is not None}
    for signal in (signal for signal, asked in wanted.items() if asked):
        try:
            own_headers(environ, signal, Redactor(()))
            check_url(endpoint(environ, signal))
        except Unfit as error:
            yield Finding(wrong=True, sentence=str(error))
        except ValueError as error:
            yield Finding(wrong=True, sentence=f"OTEL_EXPORTER_OTLP_ENDPOINT, for {signal}: {error}")


def _installed() -> bool:
    try:
        return find_spec("opentelemetry.exporter.otlp.proto.common") is not None
    except ImportError:
        return False
