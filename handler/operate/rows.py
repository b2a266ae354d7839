"""What operators read, as types: the rows of ``sql/queries``, and the answers of the API made of them."""

from datetime import datetime, timedelta
from typing import Annotated

import msgspec
from msgspec import Meta

Moment = Annotated[datetime, Meta(tz=True)]


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job as lists show it; of the last error its beginning."""

    id: int
    kind: str
    queue: str
    status: str
    held_by: str | None
    priority: int
    attempt: int
    run_at: Moment
    created_at: Moment
    finished_at: Moment | None
    group_key: str | None
    unique_key: str | None
    last_error: str | None


class Jobs(msgspec.Struct, frozen=True, kw_only=True):
    """A page of jobs. ``below`` is where to go on; None when nothing is left. ``warning``: nobody knows such a kind."""

    jobs: list[Job]
    below: int | None
    warning: str | None = None


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a job that is kept: every one that did not simply succeed."""

    number: int
    tick: int | None
    trigger: str | None
    started_at: Moment | None
    ended_at: Moment
    took: timedelta | None
    outcome: str
    status_code: int | None
    retry_at: Moment | None
    provider: str | None
    provider_message_id: str | None
    error: str | None


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """The record that something was sent, or may have been."""

    kind: str
    key: str
    state: str
    job: int
    reserved_at: Moment
    settled_at: Moment | None
    provider: str | None
    provider_message_id: str | None


class WholeJob(msgspec.Struct, frozen=True, kw_only=True):
    """One job with all that a person may want to know; what is secret in its payload is hidden.

    Payload and result are JSON as PostgreSQL writes it, for it holds numbers that Python cannot; ``null`` is no result.
    """

    id: int
    kind: str
    queue: str
    status: str
    held_by: str | None
    why: str
    priority: int
    attempt: int
    max_attempts: int | None
    run_at: Moment
    created_at: Moment
    started_at: Moment | None
    finished_at: Moment | None
    expires_at: Moment | None
    claimed_at: Moment | None
    claimed_by: int | None
    lease_expires_at: Moment | None
    group_key: str | None
    unique_key: str | None
    progress_done: int | None
    progress_total: int | None
    last_status_code: int | None
    last_error_at: Moment | None
    last_error: str | None
    first_job: int | None
    requeued_from: int | None
    requeued_as: int | None
    resolution: str | None
    resolved_by: str | None
    resolved_at: Moment | None
    resolved_reason: str | None
    payload: msgspec.Raw
    result: msgspec.Raw
    attempts: list[Attempt]
    markers: list[Marker]


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """What a job waits for, or how it ended, and the mend."""

    job: int
    why: str


class DeadLetter(msgspec.Struct, frozen=True, kw_only=True):
    """A dead job that waits for a person."""

    id: int
    kind: str
    endpoint: str | None
    queue: str
    attempt: int
    died_at: Moment
    last_status_code: int | None
    fingerprint: str
    last_error: str | None


class DeadLetters(msgspec.Struct, frozen=True, kw_only=True):
    """A page of dead letters, the latest first; ``below`` is where to go on."""

    dead: list[DeadLetter]
    below: int | None


class DeadGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Dead letters of one kind, and of one endpoint where they deliver to one, that died of one error."""

    kind: str
    endpoint: str | None
    fingerprint: str
    jobs: int
    first_at: Moment
    last_at: Moment
    latest: int
    last_status_code: int | None
    last_error: str | None


class DeadGroups(msgspec.Struct, frozen=True, kw_only=True):
    """The largest group first; ``more`` says that older dead letters were not looked at."""

    groups: list[DeadGroup]
    more: bool


class Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """A message of which nobody knows whether it was sent."""

    kind: str
    key: str
    job: int
    reserved_at: Moment
    in_doubt_since: Moment | None
    provider: str | None
    provider_message_id: str | None


class Doubts(msgspec.Struct, frozen=True, kw_only=True):
    """The oldest first."""

    doubts: list[Doubt]
