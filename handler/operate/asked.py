"""What an operator may ask, as types: queries, the filters of lists, and the bodies of actions."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from crontick.handler.operate.rows import Moment
from crontick.jobs.request import JobId, Name

Text = Annotated[str, Meta(pattern=r"^[^\x00]*\Z", max_length=8192)]
"""PostgreSQL stores no NUL."""
By = Annotated[str, Meta(pattern=r"^[^\x00]*\Z", min_length=1, max_length=128)]
Reason = Annotated[str, Meta(pattern=r"^[^\x00]*\Z", max_length=1000)]
GivenReason = Annotated[str, Meta(pattern=r"^[^\x00]*\Z", min_length=1, max_length=1000)]
Status = Literal["queued", "running", "succeeded", "failed", "dead", "cancelled"]
Count = Annotated[int, Meta(ge=1, le=1000)]


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Nothing; what all that may be asked has in common: a misspelt field is refused."""


class OneJob(Asked, frozen=True, kw_only=True):
    """A job by its id."""

    id: JobId


class ListJobs(Asked, frozen=True, kw_only=True):
    """Jobs that are like all of this, the newest first."""

    status: Status | None = None
    kind: Name | None = None
    queue: Name | None = None
    group: Text | None = None
    error: Text | None = None
    since: Moment | None = None
    until: Moment | None = None
    below: JobId | None = None
    limit: Count = 50


class ListDead(Asked, frozen=True, kw_only=True):
    """Dead letters that are like all of this, the latest first."""

    kind: Name | None = None
    queue: Name | None = None
    error: Text | None = None
    fingerprint: Text | None = None
    endpoint: Text | None = None
    below: JobId | None = None
    limit: Count = 50


class ListDoubts(Asked, frozen=True, kw_only=True):
    """Doubts of a kind, the oldest first."""

    kind: Name | None = None
    limit: Count = 50


class ListTicks(Asked, frozen=True, kw_only=True):
    """Ticks of a trigger, the latest first."""

    trigger: Text | None = None
    below: JobId | None = None
    limit: Count = 20


class ListBreakers(Asked, frozen=True, kw_only=True):
    """Targets that failed lately, or those alone that are left alone."""

    open_only: bool = False
    limit: Count = 1000


class ListAlerts(Asked, frozen=True, kw_only=True):
    """Alerts, or those alone that fire."""

    active: bool = False
    limit: Count = 50


class AtMost(Asked, frozen=True, kw_only=True):
    """How many rows."""

    limit: Count = 50


class ActOnJob(Asked, frozen=True, kw_only=True):
    """Who acts on a job, and why."""

    id: JobId
    by: By
    reason: Reason | None = None


class IgnoreJob(Asked, frozen=True, kw_only=True):
    """Who leaves a dead job as it is, and why."""

    id: JobId
    by: By
    reason: GivenReason


class RequeueJob(Asked, frozen=True, kw_only=True):
    """A fresh copy of a dead job, perhaps with another payload, in which what is shown hidden keeps what it had."""

    id: JobId
    by: By
    reason: Reason | None = None
    payload: msgspec.Raw = msgspec.field(default_factory=lambda: msgspec.Raw(b"null"))
    run_at: Moment | None = None


class Matching(Asked, frozen=True, kw_only=True):
    """Which jobs a bulk action means: those that are like all of this."""

    ids: Annotated[list[JobId], Meta(min_length=1, max_length=1000)] | None = None
    status: Literal["queued", "running", "failed", "dead"] | None = None
    kind: Name | None = None
    queue: Name | None = None
    group: Text | None = None
    error: Text | None = None
    fingerprint: Text | None = None
    endpoint: Text | None = None


class ActOnMany(Asked, frozen=True, kw_only=True):
    """Act on at most ``limit`` of the jobs that match; without ``confirmed`` only count them.

    ``confirmed`` is the count that a person agreed to: when more match, nothing is done (P22).
    """

    matching: Matching
    by: By
    reason: Reason | None = None
    confirmed: Annotated[int, Meta(ge=1, le=100_000)] | None = None
    limit: Count = 1000


class RequeueMany(ActOnMany, frozen=True, kw_only=True):
    """The same; the copies come due one after another, so many a minute, the first one at ``run_at`` or now."""

    per_minute: Annotated[int, Meta(ge=1, le=60_000)] = 600
    run_at: Moment | None = None


class DecideDoubt(Asked, frozen=True, kw_only=True):
    """Whether a message was sent."""

    kind: Text
    key: Text
    decision: Literal["sent", "not_sent"]
    by: By
    reason: Reason | None = None


class NameWork(Asked, frozen=True, kw_only=True):
    """What is paused or resumed; ``all`` has no name."""

    what: Literal["all", "queue", "kind", "group", "endpoint", "schedule"]
    name: Text = ""
    by: By
    reason: Reason | None = None


class NameTarget(Asked, frozen=True, kw_only=True):
    """A breaker, by its target: ``endpoint:NAME``, ``kind:NAME`` or a URL without query."""

    target: Text
    by: By
    reason: Reason | None = None


class RunSchedule(Asked, frozen=True, kw_only=True):
    """A schedule whose job is enqueued now, beside its slots."""

    name: Name
    by: By
    reason: Reason | None = None
