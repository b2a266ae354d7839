"""What operators are shown of ticks, and of what calls them."""

from datetime import timedelta

import msgspec

from crontick.handler.operate.rows import Moment


class Tick(msgspec.Struct, frozen=True, kw_only=True):
    """One tick; ``ended`` is its stop reason, ``runs`` or ``died``."""

    id: int
    started_at: Moment
    trigger: str | None
    ended: str
    took: timedelta | None
    late: timedelta | None
    claimed: int
    succeeded: int
    failed: int
    dead: int
    snoozed: int
    cancelled: int
    handed_back: int
    duplicates: int
    rescued: int
    lost: int
    reminders: int
    version: str | None
    host: str | None
    host_request_id: str | None
    token: str | None


class Ticks(msgspec.Struct, frozen=True, kw_only=True):
    """A page of ticks, the latest first; ``below`` is where to go on."""

    ticks: list[Tick]
    below: int | None


class Trigger(msgspec.Struct, frozen=True, kw_only=True):
    """Who called ticks in the last seven days: how often it is expected, how late it came, its gaps by their length."""

    trigger: str
    expected: timedelta | None
    ticks: int
    last_at: Moment
    median: timedelta | None
    p95: timedelta | None
    longest: timedelta | None
    late: timedelta | None
    up_to_half: int
    on_time: int
    up_to_twice: int
    late_gaps: int
    missing_gaps: int


class Triggers(msgspec.Struct, frozen=True, kw_only=True):
    """Who calls, and how regularly."""

    triggers: list[Trigger]
