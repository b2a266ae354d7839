"""The line that an attempt which failed or died leaves in the log."""

import logging
from typing import Final

from crontick.jobs.ending import Ending
from crontick.jobs.outcomes import Dead, Failed

__all__ = ["log_failure"]

_LOG: Final = logging.getLogger("crontick.run")


def log_failure(ending: Ending, outcome: Failed | Dead) -> None:
    """One line, with the fields that a program reads."""
    ctx = ending.ctx
    fields = {
        "event": "attempt_dead" if isinstance(outcome, Dead) else "attempt_failed",
        "job": ctx.job.id,
        "kind": ctx.kind.name,
        "queue": ctx.job.queue,
        "attempt": ctx.job.attempt,
        "took_ms": round(ctx.took_seconds * 1000),
        "status_code": outcome.status_code,
        "fingerprint": outcome.fingerprint,
        "retry_seconds": outcome.retry_seconds if isinstance(outcome, Failed) else None,
    }
    _LOG.warning(
        "%s %s %s attempt %s: %s%s",
        *(ctx.kind.name, ctx.job.id, "raised in" if ctx.trace else "failed in", ctx.job.attempt, outcome.error),
        f"\n{ctx.trace}" if ctx.trace else "",
        extra={"fields": fields},
    )
