"""``POST /api/jobs``: enqueue over HTTP, once for each Idempotency-Key, the kinds that ``[api] kinds`` names (P32)."""

from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

import msgspec
import psycopg
from msgspec import Meta
from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from crontick.handler.body import read_body
from crontick.handler.operate.asked import Text
from crontick.handler.operate.door import not_json, out_of_range
from crontick.handler.operate.refused import refusal
from crontick.handler.operate.rows import Moment
from crontick.handler.operate.waking import wake_after
from crontick.handler.problem import KEY_REUSED, KIND_NOT_OFFERED, OUT_OF_RANGE, Problem
from crontick.jobs.deployment import Deployment
from crontick.jobs.payload import PayloadError
from crontick.jobs.report_files import opened
from crontick.jobs.request import Name
from crontick.jobs.sealing import SealingError
from crontick.jobs.sections import Attempts, Priority
from crontick.jobs.trace_context import TraceContext, carrying, current, read
from crontick.sql import query

BYTES_AT_MOST: Final = 2**20
KEY_HEADER: Final = "idempotency-key"
KEY_CHARACTERS: Final = 255
TRACE_HEADER: Final = "traceparent"


class NewJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A job to enqueue: the arguments of ``crontick.enqueue``; ``delay_seconds`` counts from the database's now."""

    kind: Name
    payload: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"{}"))
    run_at: Moment | None = None
    delay_seconds: Annotated[float, Meta(ge=0, le=315_360_000)] | None = None
    queue: Name | None = None
    priority: Priority | None = None
    max_attempts: Attempts | None = None
    unique_key: Annotated[Text, Meta(min_length=1)] | None = None
    unique_for: Annotated[Text, Meta(min_length=1)] = "active"
    group_key: Annotated[Text, Meta(min_length=1)] | None = None
    on_conflict: Literal["keep", "replace"] = "keep"
    expires_at: Moment | None = None

    def __post_init__(self) -> None:
        if self.run_at is not None and self.delay_seconds is not None:
            raise ValueError("run_at and delay_seconds say the same: give one of them")


NewJobs = Annotated[list[NewJob], Meta(min_length=1, max_length=1000)]
_ONE: Final = msgspec.json.Decoder(NewJob)
_MANY: Final = msgspec.json.Decoder(NewJobs)


class EnqueuedJob(msgspec.Struct, frozen=True, kw_only=True):
    """``created`` is false where the unique key was taken: the id is that of the job that has it."""

    id: int
    created: bool


class EnqueuedJobs(msgspec.Struct, frozen=True, kw_only=True):
    """In the order of the jobs that were sent."""

    jobs: list[EnqueuedJob]


PATH: Final = "/api/jobs"


def enqueueing(
    database_url: str | None, deployment: Callable[[], Deployment]
) -> Callable[[Scope, Receive], Awaitable[msgspec.Struct]]:
    """What enqueues a job, or up to 1,000: all of them, or none."""

    async def answer(scope: Scope, receive: Receive) -> EnqueuedJobs:
        key = _key(Headers(scope=scope))
        body = await read_body(scope, receive, bytes_at_most=BYTES_AT_MOST)
        jobs = _read(body)
        known, trace = deployment(), current() or _trace(Headers(scope=scope))
        values = {
            "key": None if key is None else sha256(key.encode()).digest(),
            "body": sha256(body).digest(),
            "jobs": msgspec.json.encode([_checked(job, known, nth, trace) for nth, job in enumerate(jobs, 1)]).decode(),
        }
        enqueued = msgspec.json.decode(await _enqueued(database_url, values), type=list[EnqueuedJob])
        await wake_after(deployment, [job.delay_seconds if job.run_at is None else job.run_at for job in jobs])
        return EnqueuedJobs(jobs=enqueued)

    return answer


async def _enqueued(database_url: str | None, values: dict[str, Any]) -> str:
    refused: Problem | None = None
    async with opened(database_url) as conn:
        try:
            [answer] = await (await conn.execute(query("enqueue_once").text.encode(), values)).fetchone() or [""]
            return str(answer)
        except psycopg.DataError as error:
            said = f"PostgreSQL cannot store one of these jobs (SQLSTATE {error.sqlstate}), and took none of them"
            refused = Problem(
                OUT_OF_RANGE, f"{said}: NUL, lone surrogates and numbers beyond 131,072 digits are refused"
            )
        except psycopg.Error as error:
            if (told := refusal(error)) is None:
                raise
            refused = Problem(KEY_REUSED if error.sqlstate == "CT006" else OUT_OF_RANGE, str(told))
    raise refused


def _read(body: bytes) -> list[NewJob]:
    try:
        # Which of the two is known by its first character: what is wrong is then told of the one that was meant.
        if body.lstrip()[:1] == b"[":
            return _MANY.decode(body)
        return [_ONE.decode(body)]
    except msgspec.ValidationError as error:
        raise out_of_range(str(error), NewJob.__struct_fields__) from None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise not_json(NewJob.__struct_fields__) from None


def _checked(job: NewJob, deployment: Deployment, nth: int, trace: TraceContext | None) -> NewJob:
    """The job as it may rest, in that trace: its kind is offered, its payload fits, its secrets are sealed."""
    if job.kind not in deployment.config.api.kinds:
        offered = ", ".join(deployment.config.api.kinds) or "none"
        raise Problem(KIND_NOT_OFFERED, f"job {nth} is of the kind {job.kind}; [api] kinds offers {offered}")
    kind = deployment.kinds[job.kind]
    text = bytes(job.payload).decode()
    try:
        kind.payload.decode(text)
        if kind.secret:
            from crontick.jobs.secret_fields import seal_for_rest

            text = seal_for_rest(text, kind.name, kind.secret, job.unique_key, job.group_key)
    except (PayloadError, SealingError) as error:
        raise Problem(OUT_OF_RANGE, f"job {nth}: {error}") from None
    return msgspec.structs.replace(job, payload=msgspec.Raw(carrying(text, trace).encode()))


def _trace(headers: Headers) -> TraceContext | None:
    """The caller's, as W3C Trace Context has it: what cannot be read is no reason to refuse a job."""
    given = headers.getlist(TRACE_HEADER)
    return read(given[0], ",".join(headers.getlist("tracestate"))) if len(given) == 1 else None


def _key(headers: Headers) -> str | None:
    given = headers.getlist(KEY_HEADER)
    if not given:
        return None
    if len(given) > 1 or not 1 <= len(given[0]) <= KEY_CHARACTERS or not given[0].isprintable():
        raise Problem(
            OUT_OF_RANGE, f"Idempotency-Key is one header with 1 to {KEY_CHARACTERS} characters, such as a UUID"
        )
    return given[0]
