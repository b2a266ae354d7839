"""What operators are shown of what stands around the jobs: schedules, breakers, limits, groups, pauses, alerts."""

from datetime import timedelta
from typing import Final

import msgspec

from crontick.handler.operate.rows import Moment

COUNTED: Final = 10_000
"""Where counts of ``State`` end, but for that of blocked groups."""
COUNTED_GROUPS: Final = 1000


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """A schedule in force, its next slots, and one sentence on what keeps it."""

    name: str
    cron: str
    tz: str
    kind: str
    next: list[Moment]
    last_slot_at: Moment | None
    last_job: int | None
    fired: int
    missed: int
    skipped: int
    paused_at: Moment | None
    why: str


class Schedules(msgspec.Struct, frozen=True, kw_only=True):
    """By name."""

    schedules: list[Schedule]


class Breaker(msgspec.Struct, frozen=True, kw_only=True):
    """A target that failed lately. ``waiting``: how many jobs its breaker holds, up to a thousand.

    Jobs of it that failed and wait for their time are held by nothing, and are not among them.
    """

    target: str
    kind: str
    state: str
    failures: int
    times_opened: int
    opened_at: Moment | None
    retry_at: Moment | None
    probe_job: int | None
    changed_at: Moment
    by: str | None
    reason: str | None
    waiting: int


class Breakers(msgspec.Struct, frozen=True, kw_only=True):
    """What is open first."""

    breakers: list[Breaker]


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A line in which jobs wait for a limit."""

    name: str
    key: str | None
    says: str
    waiting: int
    oldest_due_at: Moment | None
    next_room_at: Moment | None


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The longest line first."""

    limits: list[Line]


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """A group whose head keeps others waiting; ``waiting`` ends at a hundred."""

    group_key: str
    head: int
    head_kind: str
    head_status: str
    head_held_by: str | None
    head_attempt: int
    head_age: timedelta
    head_run_at: Moment
    waiting: int
    oldest_age: timedelta | None
    head_error: str | None


class Groups(msgspec.Struct, frozen=True, kw_only=True):
    """The longest wait first."""

    groups: list[Group]


class Pause(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not claimed; ``status_code`` is the answer that did it, where no person did."""

    what: str
    name: str
    paused_at: Moment
    by: str
    reason: str | None
    status_code: int | None


class Pauses(msgspec.Struct, frozen=True, kw_only=True):
    """The oldest first."""

    paused: list[Pause]


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """Unfinished jobs and dead letters of one queue, kind, status and hold; ``or_more``: not all were looked at."""

    queue: str
    kind: str
    status: str
    held_by: str | None
    jobs: int
    or_more: bool
    oldest_due: timedelta | None


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What a person asks first: does it tick, is it late, does anything wait for me. Counts end at ``COUNTED``."""

    environment: str
    now: Moment
    installed_age: timedelta
    test_clock: bool
    last_tick_at: Moment | None
    last_trigger: str | None
    last_tick_age: timedelta | None
    wake_at: Moment | None
    died_ticks: int
    oldest_due: timedelta | None
    dead_letters: int
    doubts: int
    disabled_endpoints: int
    open_breakers: int
    kept_schedules: int
    unknown_kinds: int | None
    missing_keys: int | None
    refused_ends: int
    blocked_groups: int


class Alert(msgspec.Struct, frozen=True, kw_only=True):
    """What the last tick that looked found wrong; ``error`` may quote what somebody said."""

    id: int
    name: str
    subject: str
    since: Moment
    started_at: Moment
    ended_at: Moment | None
    told_at: Moment | None
    silenced_until: Moment | None
    counted: int
    what: str
    mend: str
    error: str | None
    job: int | None
    not_told: str | None


class Alerts(msgspec.Struct, frozen=True, kw_only=True):
    """What fires first, then what ended last."""

    alerts: list[Alert]


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """How things stand; of the alerts those that are firing."""

    state: State
    work: list[Work]
    paused: list[Pause]
    breakers: list[Breaker]
    alerts: list[Alert]
