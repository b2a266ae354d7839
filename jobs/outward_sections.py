"""The tables of ``crontick.toml`` by which a tick turns to others: whom it tells, pings and asks, and who calls it."""

from datetime import timedelta
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from crontick.jobs.durations import Seconds
from crontick.jobs.kinds.settings import Text, VariableName

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
WAKE_BODY_BYTES: Final = 16384


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
