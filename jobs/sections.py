"""The tables of ``crontick.toml`` as types."""

from datetime import timedelta
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from crontick.jobs.durations import Seconds
from crontick.jobs.kinds.settings import (
    EmailSettings,
    HttpSettings,
    ReportSettings,
    WebhookEndpoint,
)
from crontick.jobs.kinds.sql_job import SqlJob
from crontick.jobs.outward_sections import AlertSettings, FanOutSettings, HeartbeatSettings, WakeSettings
from crontick.jobs.request import Name

Attempts = Annotated[int, Meta(ge=1, le=100)]
MOST_URGENT: Final = 100
Priority = Annotated[int, Meta(ge=-MOST_URGENT, le=MOST_URGENT)]
CatchUp = Literal["latest", "none", "all"]
Overlap = Literal["skip", "allow"]
LATE: Final = timedelta(hours=1)
"""How late a slot may still fire where missed ones do not: a trigger comes seldom on the minute."""
AT_MOST: Final = 24
MOST_CAUGHT_UP: Final = 100
LONGEST_SPREAD: Final = timedelta(days=1)


class ReminderSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[[reminder]]``: whom to remind of what comes up, ``lead`` before it (DESIGN section 9)."""

    name: Name
    lead: timedelta
    kind: Name
    query: Annotated[str, Meta(min_length=1)]
    late: timedelta | None = None
    queue: Name | None = None
    priority: Priority = 10

    def __post_init__(self) -> None:
        if self.lead <= timedelta(0):
            raise ValueError("lead must be longer than nothing")
        if self.late is not None and not timedelta(0) <= self.late <= self.lead:
            raise ValueError("late must not be longer than lead: nothing is sent after the item's own moment")


class ScheduleSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[[schedule]]``: enqueue a job at each slot of five cron fields in a zone (DESIGN section 9)."""

    name: Name
    cron: str
    tz: str = "UTC"
    kind: Name
    payload: dict[str, Any] = {}
    queue: Name | None = None
    priority: Priority | None = None
    catch_up: CatchUp = "latest"
    at_most: Annotated[int, Meta(ge=1, le=MOST_CAUGHT_UP)] = AT_MOST
    late: timedelta = LATE
    overlap: Overlap = "skip"
    spread: Seconds = timedelta(0)

    def __post_init__(self) -> None:
        if self.spread > LONGEST_SPREAD:
            raise ValueError("spread is at most a day")


class Exponential(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``backoff = { base = "1m", factor = 2, cap = "6h" }``."""

    base: Seconds
    factor: Annotated[float, Meta(ge=1, le=10)] = 2
    cap: Seconds = timedelta(hours=24)


class KindSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[kinds.NAME]``: what the operator says otherwise than the kind's author; with ``url`` the kind itself."""

    url: str | None = None
    queue: Name | None = None
    priority: Priority | None = None
    timeout: Seconds | None = None
    needs: Seconds | None = None
    max_attempts: Attempts | None = None
    backoff: Annotated[tuple[Seconds, ...], Meta(min_length=1)] | Exponential | None = None
    secret: tuple[Annotated[str, Meta(min_length=1)], ...] = ()
    on_failure: Literal["block", "pass"] | None = None
    breaker: bool | None = None

    def __post_init__(self) -> None:
        if self.url is not None:
            # Imported here: a tick whose deployment has no kinds at URLs does not pay for it.
            from crontick.jobs.operator_url import check_url

            check_url(self.url)
        for name in ("timeout", "needs"):
            length = getattr(self, name)
            if length is not None and not timedelta(0) < length <= timedelta(seconds=900):
                raise ValueError(f"{name} must be longer than nothing and at most 900 s, the longest tick")


class LimitSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[limits.NAME]``: how many jobs of one kind, queue, endpoint or provider may start, and how many run at once.

    With ``key`` each value of that field of the payload has a limit of its own.
    """

    kind: Name | None = None
    queue: Name | None = None
    endpoint: Annotated[str, Meta(min_length=1, max_length=128)] | None = None
    provider: Literal["smtp", "resend"] | None = None
    key: str | None = None
    rate: str | None = None
    burst: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    concurrency: Annotated[int, Meta(ge=1, le=100_000)] | None = None


class QueueSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[queues.NAME]``: how many seats of a tick its jobs may have."""

    seats: Annotated[int, Meta(ge=1, le=1000)]


class Retention(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[retention]``: how long what is finished is kept (DESIGN section 9)."""

    succeeded: timedelta = timedelta(days=7)
    dead: timedelta = timedelta(days=90)
    ticks: timedelta = timedelta(days=30)
    reports: timedelta = timedelta(days=7)
    audit: timedelta = timedelta(days=400)

    def __post_init__(self) -> None:
        if min(self.succeeded, self.dead, self.ticks, self.reports, self.audit) < timedelta(hours=1):
            raise ValueError("an hour is the least that anything is kept")


class ApiSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[api]``: the kinds that ``POST /api/jobs`` takes, none unless named (P32)."""

    kinds: tuple[Name, ...] = ()


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The whole file; without one, the defaults."""

    email: EmailSettings | None = None
    webhook_endpoint: tuple[WebhookEndpoint, ...] = ()
    http: HttpSettings = msgspec.field(default_factory=HttpSettings)
    reminder: tuple[ReminderSettings, ...] = ()
    schedule: tuple[ScheduleSettings, ...] = ()
    report: tuple[ReportSettings, ...] = ()
    sql_job: tuple[SqlJob, ...] = ()
    kinds: dict[str, KindSettings] = msgspec.field(default_factory=dict)
    limits: dict[str, LimitSettings] = msgspec.field(default_factory=dict)
    queues: dict[str, QueueSettings] = msgspec.field(default_factory=dict)
    retention: Retention = msgspec.field(default_factory=Retention)
    api: ApiSettings = msgspec.field(default_factory=ApiSettings)
    alerts: AlertSettings = msgspec.field(default_factory=AlertSettings)
    heartbeat: HeartbeatSettings | None = None
    fan_out: FanOutSettings | None = None
    wake: WakeSettings | None = None
    strict_kinds: bool = False
