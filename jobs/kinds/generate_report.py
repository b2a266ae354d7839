"""``generate_report``: a named query becomes a file, part by part, each a job of its own."""

from typing import Any, Literal

import msgspec

from crontick.jobs.context import Context
from crontick.jobs.kind import kind

__all__ = ["GenerateReport", "generate_report"]


class GenerateReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Which ``[[report]]``, and with what. ``run`` and ``part`` are those of a part that follows another."""

    report: str
    parameters: dict[str, Any] = {}
    format: Literal["csv", "jsonl"] | None = None
    gzip: bool = False
    run: int | None = None
    part: int = 1

    def __post_init__(self) -> None:
        if (self.run is None) != (self.part == 1) or self.part < 1:
            raise ValueError("run and part are written by the part before: leave them out")


@kind("generate_report", queue="slow", priority=-10, timeout=20, needs=10, max_attempts=3)
async def generate_report(payload: GenerateReport, ctx: Context) -> None:
    """Append one part, enqueue the next and succeed, in one transaction: a death anywhere loses and doubles no row.

    The run is known by the id of the job that began it. A query that fails makes the job dead, and the run failed.
    """
    # Imported here: a tick that makes no report does not pay for it.
    from crontick.jobs.by_name import found_by_name
    from crontick.jobs.kinds.report_part import make_part

    await make_part(payload, found_by_name(ctx.settings.report, payload.report, "report", ctx), ctx)
