"""Endings as the statement that settles them: plain successes as two arrays, all others as JSON."""

import logging
from typing import Any, Final

import msgspec
import psycopg

from crontick.jobs.outcomes import Cancelled, Dead, Failed, HandedBack, Mark, Outcome, Snoozed, Succeeded
from crontick.jobs.run import Ending
from crontick.jobs.seats import Seats
from crontick.sql import query
from crontick.sql.wire import Statement, statement

__all__ = ["bare", "log_refused", "log_unrecorded", "settling"]

_LOG: Final = logging.getLogger("crontick.tick")


def settling(opening: int, endings: list[Ending], seats: Seats) -> list[Statement]:
    """The statement, or none when there is nothing to say."""
    plain = [ending for ending in endings if ending.plain]
    told = [_told(ending) for ending in endings if not ending.plain]
    progress = [
        {"id": c.job.id, "claim": c.job.claim, "done": c.progress_made[0], "total": c.progress_made[1]}
        for c in [*seats.progress(), *(ending.ctx for ending in endings)]
        if c.progress_made is not None
    ]
    if not endings and not progress:
        return []
    return [
        statement(
            query("settle_attempts"),
            {
                "opening": opening,
                "ids": [ending.ctx.job.id for ending in plain],
                "claims": [ending.ctx.job.claim for ending in plain],
                "endings": msgspec.json.encode(told).decode() if told else None,
                "progress": msgspec.json.encode(progress).decode() if progress else None,
            },
        )
    ]


def _told(ending: Ending) -> dict[str, Any]:
    """One ``crontick.ending``, without what is not said."""
    ctx = ending.ctx
    told: dict[str, Any] = {"id": ctx.job.id, "claim": ctx.job.claim, "completed": ending.completed}
    told |= _fate(ending)
    if ending.marks:
        told["marks"] = ending.marks
        sent: Mark | None = next((mark for mark in ending.marks if mark.provider), None)
        if sent is not None:
            told |= {"provider": sent.provider, "provider_message_id": sent.message_id}
            told["details"] = {**(sent.details or {}), "content_hash": sent.content_hash}
    return told


def _fate(ending: Ending) -> dict[str, Any]:
    match ending.outcome:
        case Succeeded(result=result, duplicate=duplicate, note=note):
            told: dict[str, Any] = {"outcome": "succeeded", "duplicate": duplicate, "error": note}
            if result is not None:
                told["result"] = msgspec.Raw(result.encode())
            if children := ending.ctx.children:
                told["children"] = [{**child, "payload": msgspec.Raw(child["payload"].encode())} for child in children]
            return told
        case Failed(error=error, retry_seconds=seconds, fingerprint=fingerprint, status_code=status):
            told = {"outcome": "failed", "error": error, "delay_seconds": seconds}
            return told | {"fingerprint": fingerprint, "status_code": status}
        case Dead(error=error, fingerprint=fingerprint, status_code=status):
            return {"outcome": "dead", "error": error, "fingerprint": fingerprint, "status_code": status}
        case Snoozed(delay_seconds=seconds):
            return {"outcome": "snoozed", "delay_seconds": seconds}
        case Cancelled(reason=reason):
            return {"outcome": "cancelled", "error": reason}
        case HandedBack(began=began, delay_seconds=seconds, missing_key=key):
            told = {"outcome": "handed_back", "began": began, "delay_seconds": seconds}
            return told if key is None else told | {"held_by": f"key:{key}"}


def bare(ending: Ending, error: psycopg.Error) -> Ending:
    """The same fate without result, texts and children: what made the database refuse it is in one of them."""
    said = f"what it said could not be stored (SQLSTATE {error.sqlstate})"
    match ending.outcome:
        case Succeeded(duplicate=duplicate):
            outcome: Outcome = Succeeded(duplicate=duplicate, note=said)
            ending.ctx.children.clear()
        case Failed(retry_seconds=seconds):
            outcome = Failed(said, said, seconds)
        case Dead():
            outcome = Dead(said, said)
        case Cancelled():
            outcome = Cancelled(said)
        case other:
            outcome = other
    return Ending(ending.ctx, outcome, ending.marks, ending.completed)


def log_unrecorded(endings: list[Ending]) -> None:
    """The last trace of what was sent by attempts that could not be settled: their markers will be in doubt (P21)."""
    for ending in endings:
        for mark in ending.marks:
            if mark.state == "sent":
                _LOG.error(
                    "sent, not recorded: job %s, kind %s, key %s, provider %s, message id %s",
                    *(ending.ctx.job.id, mark.kind, mark.key, mark.provider, mark.message_id),
                )


def log_refused(ending: Ending, error: psycopg.Error) -> None:
    """Not even the bare fate of this attempt can be stored: its lease runs out, and a later tick rescues the job."""
    job = ending.ctx.job
    _LOG.error("job %s, kind %s: the database refuses its outcome (SQLSTATE %s)", job.id, job.kind, error.sqlstate)
    log_unrecorded([ending])
