"""What a tick did as OTLP's metrics in JSON: deltas, for no process lives long enough to count."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from crontick.jobs.emf import KINDS_AT_MOST
from crontick.jobs.summary import COUNTS, Summary
from crontick.jobs.tally import EDGES_MS, KindTally
from crontick.sql import VERSION

__all__ = ["document"]

_DELTA: Final = 1
_BOUNDS: Final = [edge / 1000 for edge in EDGES_MS]


def document(summary: Summary, resource: Mapping[str, str], at_ns: int) -> dict[str, Any]:
    """The body of a POST to ``/v1/metrics``: numbers of 64 bits are texts in it, as ProtoJSON has them."""
    span = {"startTimeUnixNano": str(at_ns - summary.duration_ms * 1_000_000), "timeUnixNano": str(at_ns)}
    told = [*_tick(summary, span), *_kinds(summary, span)]
    scope = {"scope": {"name": "crontick", "version": VERSION}, "metrics": told}
    return {"resourceMetrics": [{"resource": {"attributes": _attributes(resource)}, "scopeMetrics": [scope]}]}


def _tick(summary: Summary, span: dict[str, str]) -> Iterator[dict[str, Any]]:
    yield _sum(
        "crontick.ticks", "{tick}", [{**span, "asInt": "1", **_labels({"crontick.tick.state": _state(summary)})}]
    )
    if summary.not_run is not None:
        return
    for name in (*COUNTS, "scheduled"):
        yield _sum(f"crontick.jobs.{name}", "{job}", [{**span, "asInt": str(getattr(summary, name))}])
    took = KindTally()
    took.add(summary.duration_ms)
    yield _histogram("crontick.tick.duration", [_durations(took, span)])
    ages = {"crontick.jobs.oldest_due_age": summary.oldest_due_seconds, "crontick.tick.lateness": summary.late_seconds}
    for name, seconds in ages.items():
        if seconds is not None:
            point = {"timeUnixNano": span["timeUnixNano"], "asInt": str(seconds)}
            yield {"name": name, "unit": "s", "gauge": {"dataPoints": [point]}}


def _kinds(summary: Summary, span: dict[str, str]) -> Iterator[dict[str, Any]]:
    busiest = sorted(summary.kinds.items(), key=lambda item: -item[1].n)[:KINDS_AT_MOST]
    if not busiest:
        return
    labelled = [(_labels({"crontick.job.kind": name}), tally) for name, tally in busiest]
    yield _histogram("crontick.attempt.duration", [{**_durations(tally, span), **labels} for labels, tally in labelled])
    for name in ("failed", "dead"):
        points = [{**span, "asInt": str(getattr(tally, name)), **labels} for labels, tally in labelled]
        yield _sum(f"crontick.attempts.{name}", "{attempt}", points)


def _state(summary: Summary) -> str:
    return "ran" if summary.not_run is None else summary.not_run


def _durations(tally: KindTally, span: dict[str, str]) -> dict[str, Any]:
    buckets = tally.buckets + [0] * (len(_BOUNDS) + 1 - len(tally.buckets))
    return {
        **span,
        "count": str(tally.n),
        "sum": tally.ms_sum / 1000,
        "max": tally.ms_max / 1000,
        "bucketCounts": [str(count) for count in buckets],
        "explicitBounds": _BOUNDS,
    }


def _sum(name: str, unit: str, points: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "name": name,
        "unit": unit,
        "sum": {"aggregationTemporality": _DELTA, "isMonotonic": True, "dataPoints": points},
    }


def _histogram(name: str, points: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": name, "unit": "s", "histogram": {"aggregationTemporality": _DELTA, "dataPoints": points}}


def _labels(labels: Mapping[str, str]) -> dict[str, Any]:
    return {"attributes": _attributes(labels)}


def _attributes(told: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in told.items()]
