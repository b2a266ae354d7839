"""What a tick did as CloudWatch's embedded metric format: a line of JSON on stdout, which CloudWatch Logs reads."""

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import msgspec

from crontick.jobs.summary import COUNTS, Summary
from crontick.jobs.tally import KindTally

__all__ = ["documents", "write"]

NAMESPACE: Final = "crontick"
KINDS_AT_MOST: Final = 30
"""Each is a line and a set of custom metrics, which cost: those with the most attempts are told."""
_MILLISECONDS: Final = "Milliseconds"


def write(summary: Summary, environment: str) -> None:
    """One line for the tick, and one for each kind that ran."""
    told = documents(summary, environment, round(time.time() * 1000))
    with suppress(OSError, ValueError):  # nobody reads it any more, or it is closed: no reason for a tick to fail
        sys.stdout.write("".join(f"{msgspec.json.encode(document).decode()}\n" for document in told))
        sys.stdout.flush()


def documents(summary: Summary, environment: str, at_ms: int) -> Iterator[dict[str, Any]]:
    """As the specification of the format wants them: every metric and dimension is a member at the top."""
    if summary.not_run is None:
        told = {name: (getattr(summary, name), "Count") for name in (*COUNTS, "scheduled")}
        told |= {
            "ticks": (1, "Count"),
            "duration_ms": (summary.duration_ms, _MILLISECONDS),
            "oldest_due_seconds": (summary.oldest_due_seconds, "Seconds"),
            "doubts": (int("doubts" in summary.alerts), "Count"),
        }
        if summary.late_seconds is not None:
            told["late_seconds"] = (summary.late_seconds, "Seconds")
    else:
        told = {f"ticks_{summary.not_run}": (1, "Count")}
    yield _document({"environment": environment}, told, at_ms)
    busiest = sorted(summary.kinds.items(), key=lambda item: -item[1].n)[:KINDS_AT_MOST]
    for name, tally in busiest:
        yield _document({"environment": environment, "kind": name}, _kind(tally), at_ms)


def _kind(tally: KindTally) -> dict[str, tuple[int, str]]:
    return {
        "attempts": (tally.n, "Count"),
        "attempts_failed": (tally.failed, "Count"),
        "attempts_dead": (tally.dead, "Count"),
        "attempts_ms": (tally.ms_sum, _MILLISECONDS),
        "attempt_max_ms": (tally.ms_max, _MILLISECONDS),
    }


def _document(dimensions: dict[str, str], told: dict[str, tuple[int, str]], at_ms: int) -> dict[str, Any]:
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(dimensions)],
        "Metrics": [{"Name": name, "Unit": unit} for name, (_, unit) in told.items()],
    }
    values = {name: value for name, (value, _) in told.items()}
    return {"_aws": {"Timestamp": at_ms, "CloudWatchMetrics": [directive]}, **dimensions, **values}
