"""What operators decide, on a connection of the caller's; who and why go to the audit with the same statement."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec
import psycopg

from crontick.handler.operate.asked import (
    ActOnJob,
    ActOnMany,
    DecideDoubt,
    IgnoreJob,
    NameTarget,
    NameWork,
    RequeueJob,
    RequeueMany,
    RunSchedule,
)
from crontick.handler.operate.reads import Connection, missing_job, read
from crontick.handler.operate.refused import NotDone, refusal
from crontick.handler.operate.rows import Moment
from crontick.jobs.sealing import SealingError
from crontick.jobs.secret_fields import seal_edited


class JobStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status that a job has now; a running one that is cancelled was asked to stop."""

    job: int
    status: str


class Requeued(msgspec.Struct, frozen=True, kw_only=True):
    """A dead job and its copy, with that one's status; ``before``: the first copy, and nothing was done."""

    job: int
    requeued_as: int
    before: bool = False
    status: str | None = None

    def __str__(self) -> str:
        if not self.before:
            return f"job {self.job} is requeued as job {self.requeued_as}"
        now = self.status or "no longer kept"
        return f"job {self.job} was requeued before, as job {self.requeued_as} ({now}); nothing was done"


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """How a dead job was resolved."""

    job: int
    resolution: str


class Many(msgspec.Struct, frozen=True, kw_only=True):
    """How many jobs matched, and how many of them were acted on; ``next_at``: when another copy would be due."""

    matched: int
    done: int
    next_at: Moment | None = None


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """A doubt that is none any more; ``job`` is the fresh one that sends the message, if one does."""

    kind: str
    key: str
    decision: str
    job: int | None


class Paused(msgspec.Struct, frozen=True, kw_only=True):
    """Whether it is paused now; ``warning``: nothing of that name is known yet."""

    what: str
    name: str
    paused: bool
    warning: str | None = None


class Switched(msgspec.Struct, frozen=True, kw_only=True):
    """The state that a target's breaker has now."""

    target: str
    state: str


class RanSchedule(msgspec.Struct, frozen=True, kw_only=True):
    """The job that a schedule enqueued now."""

    schedule: str
    job: int


async def requeue(conn: Connection, asked: RequeueJob) -> Requeued:
    """Enqueue a fresh copy; of an edited payload what is secret is sealed before it is stored. Raises ``NotDone``."""
    payload = await _edited(conn, asked)
    values = {**msgspec.structs.asdict(asked), "payload": payload}
    [row] = await _refusable(conn, "requeue_job", values)
    return Requeued(job=asked.id, **row)


async def ignore(conn: Connection, asked: IgnoreJob) -> Resolved:
    """Leave a dead job as it is. Raises ``NotDone``."""
    await act(conn, "ignore_job", msgspec.structs.asdict(asked))
    return Resolved(job=asked.id, resolution="ignored")


async def cancel(conn: Connection, asked: ActOnJob) -> JobStatus:
    """Cancel a job, or ask it to stop. Raises ``NotDone``."""
    return JobStatus(job=asked.id, status=await act(conn, "cancel_job", msgspec.structs.asdict(asked)))


async def run_now(conn: Connection, asked: ActOnJob) -> JobStatus:
    """Make a failed or future job due at once; one that is over stays so. Raises ``NotDone``."""
    return JobStatus(job=asked.id, status=await act(conn, "hurry_job", msgspec.structs.asdict(asked)))


async def requeue_many(conn: Connection, asked: RequeueMany) -> Many:
    """Requeue dead letters that match, or count them. Raises ``NotDone`` when more match than were confirmed."""
    return await _act_on_many(conn, "requeue", asked, {"per_minute": asked.per_minute, "run_at": asked.run_at})


async def ignore_many(conn: Connection, asked: ActOnMany) -> Many:
    """Ignore dead letters that match, or count them."""
    return await _act_on_many(conn, "ignore", asked, {})


async def cancel_many(conn: Connection, asked: ActOnMany) -> Many:
    """Cancel unfinished jobs that match, or count them."""
    return await _act_on_many(conn, "cancel", asked, {})


async def run_many_now(conn: Connection, asked: ActOnMany) -> Many:
    """Make unfinished jobs that match due at once, or count them."""
    return await _act_on_many(conn, "run_now", asked, {})


async def decide_doubt(conn: Connection, asked: DecideDoubt) -> Decided:
    """Decide whether a message was sent. Raises ``NotDone``."""
    job = await act(conn, "resolve_doubt", msgspec.structs.asdict(asked))
    return Decided(kind=asked.kind, key=asked.key, decision=asked.decision, job=job)


async def pause(conn: Connection, asked: NameWork) -> Paused:
    """Claim nothing of it from now on. Raises ``NotDone``."""
    warnings: list[str] = []

    def hear(notice: psycopg.errors.Diagnostic) -> None:
        warnings.append(": ".join(filter(None, (notice.message_primary, notice.message_hint))))

    conn.add_notice_handler(hear)
    try:
        await act(conn, "pause_work", msgspec.structs.asdict(asked))
    finally:
        conn.remove_notice_handler(hear)
    return Paused(what=asked.what, name=asked.name, paused=True, warning=warnings[0] if warnings else None)


async def resume(conn: Connection, asked: NameWork) -> Paused:
    """Claim it again. Raises ``NotDone``."""
    await act(conn, "resume_work", msgspec.structs.asdict(asked))
    return Paused(what=asked.what, name=asked.name, paused=False)


async def open_breaker(conn: Connection, asked: NameTarget) -> Switched:
    """Send nothing there until somebody closes it. Raises ``NotDone``."""
    return await _switch(conn, "open_breaker", "open", asked)


async def close_breaker(conn: Connection, asked: NameTarget) -> Switched:
    """Send again now. Raises ``NotDone``."""
    return await _switch(conn, "close_breaker", "closed", asked)


async def reset_breaker(conn: Connection, asked: NameTarget) -> Switched:
    """Send again now, and forget how often it failed. Raises ``NotDone``."""
    return await _switch(conn, "reset_breaker", "closed", asked)


async def run_schedule(conn: Connection, asked: RunSchedule) -> RanSchedule:
    """Enqueue a schedule's job now, beside its slots. Raises ``NotDone``."""
    return RanSchedule(schedule=asked.name, job=await act(conn, "run_schedule", msgspec.structs.asdict(asked)))


async def act(conn: Connection, name: str, values: Mapping[str, Any]) -> Any:
    """The one value that the query answers. Raises ``NotDone`` with the database's own refusal."""
    [row] = await _refusable(conn, name, values)
    [value] = row.values()
    return value


async def _act_on_many(
    conn: Connection, action: Literal["requeue", "ignore", "cancel", "run_now"], asked: ActOnMany, more: dict[str, Any]
) -> Many:
    chosen = {name: value for name, value in msgspec.structs.asdict(asked.matching).items() if value is not None}
    values = {
        "action": action,
        "by": asked.by,
        "reason": asked.reason,
        "matching": msgspec.json.encode(chosen).decode(),
        "confirmed": asked.confirmed,
        "at_most": asked.limit,
        "per_minute": None,
        "run_at": None,
    }
    [row] = await _refusable(conn, "act_on_many", values | more)
    return Many(**row)


async def _switch(conn: Connection, name: str, state: str, asked: NameTarget) -> Switched:
    await act(conn, name, msgspec.structs.asdict(asked))
    return Switched(target=asked.target, state=state)


async def _edited(conn: Connection, asked: RequeueJob) -> str | None:
    """The edited payload as it may rest; a field that is still hidden keeps what it had."""
    text = bytes(asked.payload).decode()
    if text == "null":
        return None
    found = await read(conn, "read_job", {"id": asked.id})
    if not found:
        raise missing_job(asked.id)
    [dead] = found
    try:
        return seal_edited(text, dead["payload"], dead["kind"], dead["secret"])
    except SealingError as error:
        raise NotDone(str(error)) from None


async def _refusable(conn: Connection, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    try:
        return await read(conn, name, values)
    except psycopg.DataError as error:
        raise NotDone(
            f"PostgreSQL cannot store that ({error.sqlstate}): is a number out of range, or NUL in it?"
        ) from None
    except psycopg.Error as error:
        if (refused := refusal(error)) is None:
            raise
        raise refused from None
