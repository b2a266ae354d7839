"""Prometheus' text format, version 0.0.4, as far as gauges need it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Gauge(NamedTuple):
    """A metric by name, and its samples: labels and value."""

    name: str
    help: str
    samples: Sequence[tuple[Mapping[str, str], float]]


def text(gauges: Iterable[Gauge]) -> str:
    """The page. A metric without a sample keeps its HELP and TYPE: that it is nought is told by saying nothing."""
    return "".join(f"{line}\n" for gauge in gauges for line in _lines(gauge))


def _lines(gauge: Gauge) -> list[str]:
    help_text = gauge.help.replace("\\", r"\\").replace("\n", r"\n")
    lines = [f"# HELP {gauge.name} {help_text}", f"# TYPE {gauge.name} gauge"]
    return [*lines, *(f"{gauge.name}{_labels(labels)} {value:.15g}" for labels, value in gauge.samples)]


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
