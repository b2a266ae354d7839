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
    Text,
    VariableName,
    WebhookEndpoint,
)
from crontick.jobs.kinds.sql_job import SqlJob
from crontick.jobs.request import Name

Attempts = Annotated[int, Meta(ge=1, le=100)]
MOST_URGENT: Final = 100
Priority = Annotated[int, Meta(ge=-MOST_URGENT, le=MOST_URGENT)]
CatchUp = Literal["latest", "none", "all"]
Overlap = Literal["skip", "allow"]
AlertName = Literal[
    "breaker_open",
    "dead_letters",
    "dead_unresolved",
    "doubts",
    "endpoint_disabled",
    "kind_paused",
    "missing_key",
    "oldest_due",
    "same_error",
    "schedule_failing",
    "tick_died",
    "trigger_late",
    "trigger_missing",
    "unknown_kind",
]
LATE: Final = timedelta(hours=1)
"""How late a slot may still fire where missed ones do not: a trigger comes seldom on the minute."""
AT_MOST: Final = 24
MOST_CAUGHT_UP: Final = 100
LONGEST_SPREAD: Final = timedelta(days=1)
WAKE_BODY_BYTES: Final = 16384


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


class AlertSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[alerts]``: from when on somebody is told, and over which channels (DESIGN section 9)."""

    log: bool = True
    webhook_env: VariableName | tuple[VariableName, ...] = ()
    email: Text | tuple[Text, ...] = ()
    dead_letters: Annotated[int, Meta(ge=1, le=1000)] = 1
    same_error: Annotated[int, Meta(ge=2, le=1000)] = 20
    oldest_due: timedelta = timedelta(hours=1)
    expected_every: timedelta | None = None
    off: tuple[AlertName, ...] = ()

    def __post_init__(self) -> None:
        if self.expected_every is not None and self.expected_every < timedelta(seconds=10):
            raise ValueError("expected_every is ten seconds at least")
        for address in self.recipients:
            # Imported here: a tick whose deployment sends no alerts by mail does not pay for it.
            from crontick.jobs.kinds.addresses import AddressError, parse

            try:
                parse(address)
            except AddressError as error:
                raise ValueError(f"email {error}") from None

    @property
    def webhooks(self) -> tuple[str, ...]:
        """The variables that have the channels' URLs."""
        return (self.webhook_env,) if isinstance(self.webhook_env, str) else self.webhook_env

    @property
    def recipients(self) -> tuple[str, ...]:
        """Who gets a mail."""
        return (self.email,) if isinstance(self.email, str) else self.email

    def told(self, more: tuple[str, ...] = ()) -> str:
        """What the closing of a tick is told; ``more`` are channels of the environment."""
        mail = ("email",) if self.recipients else ()
        channels = dict.fromkeys((*(("log",) if self.log else ()), *more, *self.webhooks, *mail))
        return msgspec.json.encode(
            {
                "channels": list(channels),
                "off": self.off,
                "dead_letters": self.dead_letters,
                "same_error": self.same_error,
                "oldest_due_seconds": self.oldest_due.total_seconds(),
            }
        ).decode()


class HeartbeatSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[heartbeat]``: whom each tick pings, who raises the alarm when none comes (DESIGN section 9)."""

    url_env: VariableName
    timeout: Seconds = timedelta(seconds=5)

    def __post_init__(self) -> None:
        if not timedelta(0) < self.timeout <= timedelta(seconds=30):
            raise ValueError("timeout must be longer than nothing and at most 30 s")


class FanOutSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[fan_out]``: a tick that cannot take all that is due asks its platform for others at once (P42)."""

    max_per_hour: Annotated[int, Meta(ge=1, le=10_000)] = 60
    url: str | None = None

    def __post_init__(self) -> None:
        if self.url is not None:
            # Imported here: a tick whose deployment names no such URL does not pay for it.
            from crontick.jobs.operator_url import check_url

            check_url(self.url)


class WakeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """``[wake]``: which platform calls the next tick as soon as something is due (P42)."""

    provider: Literal["eventbridge", "url"]
    target_arn: Text | None = None
    target_arn_env: VariableName | None = None
    role_arn: Text | None = None
    role_arn_env: VariableName | None = None
    group: Annotated[str, Meta(pattern=r"^[0-9A-Za-z_.-]{1,64}\Z")] = "default"
    input: Text = '{"crontick": "tick", "trigger": "wake"}'
    url: Text | None = None
    headers: dict[str, str] = {}
    body: Annotated[str, Meta(max_length=WAKE_BODY_BYTES)] = '{"trigger": "wake"}'
    secrets_env: dict[str, VariableName] = {}
    auth: Literal["google"] | None = None
    precision: Seconds = timedelta(minutes=1)
    timeout: Seconds = timedelta(seconds=5)
    set_again: bool = True

    def __post_init__(self) -> None:
        # Imported here: a tick whose deployment is woken by nobody does not pay for it.
        from crontick.jobs.wake.checked import check_wake

        check_wake(self)

    @property
    def secret_names(self) -> tuple[str, ...]:
        """The variables that it needs."""
        named = (self.target_arn_env, self.role_arn_env, *self.secrets_env.values())
        return tuple(name for name in named if name is not None)


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
