"""How what happened in a tick becomes its summary."""

from typing import Final

from crontick.jobs.batch import Batch, Opened
from crontick.jobs.bounds import Bounds
from crontick.jobs.ending import Ending
from crontick.jobs.outcomes import Cancelled, Dead, Failed, HandedBack, Snoozed, Succeeded
from crontick.jobs.seats import Seats
from crontick.jobs.summary import Fired, NotRun, Summary, Trouble

__all__ = ["closed", "count", "opened"]

SKIPS_TOLD: Final = 3
_NOT_RUN: dict[str | None, NotRun] = {"busy": "busy", "paused": "paused"}


def opened(summary: Summary, opening: Opened) -> None:
    """What the opening knows of the tick."""
    summary.tick = opening.tick
    summary.not_run = None if opening.ran else _NOT_RUN.get(opening.reason, "busy")
    summary.rescued = opening.rescued
    summary.late_seconds = None if opening.late_seconds is None else round(opening.late_seconds)
    for warning in opening.warnings:
        summary.warn(warning)


def count(summary: Summary, batch: Batch) -> None:
    """Add the endings that an exchange settled."""
    for ending in batch.settled:
        if ending.ctx.job.id in batch.lost:
            summary.lost += 1
        elif ending.ctx.job.id in batch.completed:
            summary.succeeded += 1
        elif ending.ctx.job.id in batch.cancelled:
            summary.cancelled += 1
        else:
            _count(summary, ending)
    _count_refused(summary, batch)
    for name, fired, skipped, refused in batch.reminders:
        told = summary.reminders.setdefault(name, Fired())
        told.fired += fired
        told.skipped_late += skipped
        if refused:
            summary.trouble(Trouble(error=f"{refused} items were refused at enqueue", reminder=name))

    for schedule, fired, refused, skips, waits_for, error in batch.fired:
        summary.scheduled += fired
        if error is not None or refused:
            summary.trouble(Trouble(error=error or "its job was refused at enqueue", schedule=schedule))
        if waits_for is not None and skips >= SKIPS_TOLD:
            summary.warn(
                f"schedule {schedule} skipped {skips} times in a row: job {waits_for} is still unfinished:"
                f" `crontick why {waits_for}`"
            )


def _count_refused(summary: Summary, batch: Batch) -> None:
    if not batch.refused:
        return
    for ending in batch.settled:
        job = ending.ctx.job
        if children := batch.refused.count(job.id):
            said = f"{children} of its {len(ending.ctx.children)} children were refused: its note says why"
            summary.trouble(Trouble(error=said, job=job.id, kind=job.kind))


def _count(summary: Summary, ending: Ending) -> None:
    job = ending.ctx.job
    match ending.outcome:
        case Succeeded(duplicate=duplicate):
            summary.succeeded += 1
            summary.duplicates += duplicate
        case Failed(public=public):
            summary.failed += 1
            summary.trouble(Trouble(error=public, job=job.id, kind=job.kind))
        case Dead(public=public):
            summary.dead += 1
            summary.trouble(Trouble(error=public, job=job.id, kind=job.kind))
        case Snoozed():
            summary.snoozed += 1
        case Cancelled():
            summary.cancelled += 1
        case HandedBack(missing_key=key):
            summary.handed_back += 1
            if key is not None:
                summary.warn(
                    f"jobs are sealed with the key {key}, which this deployment lacks:"
                    " add it to CRONTICK_ENCRYPTION_KEYS"
                )


def closed(summary: Summary, batch: Batch, bounds: Bounds, seats: Seats, claimed: int) -> Summary:
    """The last exchange's word on what is left."""
    summary.claimed = claimed
    summary.stop_reason = batch.stop_reason if batch.stop_reason not in _NOT_RUN else "empty"
    summary.more = batch.more
    summary.next_due_at = batch.next_due_at
    summary.oldest_due_seconds = max(0, int(batch.oldest_due_seconds))
    summary.duration_ms = round(bounds.started.elapsed_seconds() * 1000)
    summary.retire = seats.stuck
    summary.alerts = batch.active_alerts
    if batch.unknown_kinds:
        named = ", ".join(batch.unknown_kinds)
        summary.warn(f"jobs wait for kinds that no deployment knows: {named}: misspelt, or not in CRONTICK_MODULES?")
    if batch.active_alerts:
        named = ", ".join(batch.active_alerts)
        summary.warn(f"alerts are active: {named}: `crontick alerts` tells since when, and the mend")
    return summary
