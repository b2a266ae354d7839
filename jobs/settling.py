"""Endings as the statement that settles them: plain successes as two arrays, all others as JSON."""

from typing import Any

import msgspec
import psycopg

from crontick.jobs.outcomes import Cancelled, Dead, Failed, HandedBack, Mark, Outcome, Snoozed, Succeeded
from crontick.jobs.run import Ending
from crontick.jobs.seats import Seats
from crontick.sql import query
from crontick.sql.wire import Statement, statement

__all__ = ["bare", "settling"]


def settling(opening: int, endings: list[Ending], seats: Seats) -> list[Statement]:
    plain = [ending for ending in endings if ending.plain]
    told = [_told(ending) for ending in endings if not ending.plain]
    progress = [
        {"id": c.job.id, "claim": c.job.claim, "done": c.progress_made[0], "total": c.progress_made[1]}
        for c in seats.progress()
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
                "results": None,
                "endings": msgspec.json.encode(told).decode() if told else None,
                "progress": msgspec.json.encode(progress).decode() if progress else None,
            },
        )
    ]


def _told(ending: Ending) -> dict[str, Any]:
    """One ``crontick.ending``, without what is not said."""
    ctx, outcome = ending.ctx, ending.outcome
    told: dict[str, Any] = {"id": ctx.job.id, "claim": ctx.job.claim, "completed": ending.completed}
    match outcome:
        case Succeeded():
            told |= {"outcome": "succeeded", "duplicate": outcome.duplicate, "error": outcome.note}
            if outcome.result is not None:
                told["result"] = msgspec.Raw(outcome.result.encode())
            if ctx.children:
                told["children"] = [
                    {**child, "payload": msgspec.Raw(child["payload"].encode())} for child in ctx.children
                ]
        case Failed():
            told |= {"outcome": "failed", "error": outcome.error, "delay_seconds": outcome.retry_seconds}
            told |= {"fingerprint": outcome.fingerprint, "status_code": outcome.status_code}
        case Dead():
            told |= {"outcome": "dead", "error": outcome.error}
            told |= {"fingerprint": outcome.fingerprint, "status_code": outcome.status_code}
        case Snoozed():
            told |= {"outcome": "snoozed", "delay_seconds": outcome.delay_seconds}
        case Cancelled():
            told |= {"outcome": "cancelled", "error": outcome.reason}
        case HandedBack():
            told |= {"outcome": "handed_back", "began": outcome.began, "delay_seconds": outcome.delay_seconds}
    if ending.marks:
        told["marks"] = ending.marks
        sent: Mark | None = next((mark for mark in ending.marks if mark.provider), None)
        if sent is not None:
            told |= {"provider": sent.provider, "provider_message_id": sent.message_id}
    return told


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
