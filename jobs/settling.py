"""Endings as the statement that settles them: plain successes as two arrays, all others as JSON."""

import logging
from collections.abc import Iterable
from typing import Any, Final

import msgspec
import psycopg

from crontick.jobs import texts
from crontick.jobs.context import Context
from crontick.jobs.ending import Ending
from crontick.jobs.outcomes import Cancelled, Dead, Failed, HandedBack, Mark, Outcome, Snoozed, Succeeded
from crontick.sql import query
from crontick.sql.wire import Statement, statement

__all__ = ["bare", "log_refused", "log_unrecorded", "settling"]

_LOG: Final = logging.getLogger("crontick.tick")
_CHARACTERS: Final = 1000


def settling(
    opening: int,
    endings: list[Ending],
    running: Iterable[Context],
    *,
    limits: str | None = None,
    kinds: str | None = None,
) -> list[Statement]:
    """The statement, or none when there is nothing to say; ``running`` have said how far they are.

    ``limits`` are told where an attempt did not begin, for what it drew from them.
    ``kinds`` is the tally of the whole tick so far.
    """
    plain = [ending for ending in endings if ending.plain]
    told = [_encoded(ending) for ending in endings if not ending.plain]
    progress = [
        {"id": c.job.id, "claim": c.job.claim, "done": c.progress_made[0], "total": c.progress_made[1]}
        for c in [*running, *(ending.ctx for ending in endings)]
        if c.progress_made is not None
    ]
    if not endings and not progress:
        return []
    unbegun = any(isinstance(ending.outcome, HandedBack) and not ending.outcome.began for ending in endings)
    return [
        statement(
            query("settle_attempts"),
            {
                "opening": opening,
                "ids": [ending.ctx.job.id for ending in plain],
                "claims": [ending.ctx.job.claim for ending in plain],
                "endings": b"[" + b",".join(told) + b"]" if told else None,
                "progress": msgspec.json.encode(progress).decode() if progress else None,
                "limits": limits if unbegun else None,
                "kinds": kinds,
            },
        )
    ]


def _encoded(ending: Ending) -> bytes:
    """Bare where something in it cannot be encoded: the others of this settle must not wait for its lease's end."""
    try:
        return msgspec.json.encode(_told(ending))
    except (ValueError, TypeError, OverflowError, RecursionError, msgspec.MsgspecError) as error:
        return msgspec.json.encode(_told(bare(ending, type(error).__name__, drop_children=False)))


def _told(ending: Ending) -> dict[str, Any]:
    """One ``crontick.ending``, without what is not said."""
    ctx = ending.ctx
    told: dict[str, Any] = {"id": ctx.job.id, "claim": ctx.job.claim, "completed": ending.completed}
    told |= _fate(ending)
    if ending.target is not None:
        told["target"] = ending.target
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
        case Failed(error=error, retry_seconds=seconds, fingerprint=fingerprint, status_code=status, runs_on=runs_on):
            told = {"outcome": "failed", "error": error, "delay_seconds": seconds}
            if ending.ctx.kind.on_failure == "pass" and not runs_on:
                told["lets_pass"] = True
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


def bare(ending: Ending, why: str, *, drop_children: bool) -> Ending:
    """The same fate without result, texts and progress: what could not be stored is in one of them, or in a child."""
    said = f"what it said could not be stored ({why})"
    ending.ctx.progress_made = None
    if drop_children and ending.ctx.children:
        said = f"{said}, its {len(ending.ctx.children)} children among it"
        ending.ctx.children.clear()
    match ending.outcome:
        case Succeeded(duplicate=duplicate):
            outcome: Outcome = Succeeded(duplicate=duplicate, note=said)
        case Failed(retry_seconds=seconds, runs_on=runs_on):
            outcome = Failed(said, said, seconds, runs_on=runs_on)
        case Dead():
            outcome = Dead(said, said)
        case Cancelled():
            outcome = Cancelled(said)
        case other:
            outcome = other
    return Ending(ending.ctx, outcome, tuple(map(_bare_mark, ending.marks)), ending.completed, ending.target)


def _bare_mark(mark: Mark) -> Mark:
    provider, message_id, content_hash = (
        None if said is None else texts.storable(said, limit=_CHARACTERS)
        for said in (mark.provider, mark.message_id, mark.content_hash)
    )
    return Mark(mark.kind, mark.key, mark.state, provider, message_id, content_hash)


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
