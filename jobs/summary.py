"""What one tick did, as its caller is told."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

if TYPE_CHECKING:
    from crontick.jobs.tally import KindTally

StopReason = Literal["empty", "limit", "budget", "memory", "shutdown"]
NotRun = Literal["busy", "paused"]

ERRORS_AT_MOST: Final = 5
BRIEF_BYTES: Final = 2000
# How much is kept, from most to least, until the answer fits: errors and warnings, reminders, length of a text.
SIZES: Final = ((5, 10, 200), (5, 5, 100), (3, 2, 60), (1, 0, 60), (0, 0, 0))
COUNTS: Final = (
    "claimed",
    "succeeded",
    "failed",
    "dead",
    "snoozed",
    "cancelled",
    "handed_back",
    "duplicates",
    "rescued",
    "lost",
)


class Fired(msgspec.Struct):
    """How many items of one reminder were enqueued, and how many were found too late to send."""

    fired: int = 0
    skipped_late: int = 0


class Trouble(msgspec.Struct, frozen=True, kw_only=True):
    """One error for the summary, in crontick's own words: never text from a receiver or the database (P31)."""

    error: str
    job: int | None = None
    kind: str | None = None
    reminder: str | None = None
    schedule: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """One element of `errors`."""
        names = {"job": self.job, "kind": self.kind, "reminder": self.reminder, "schedule": self.schedule}
        return {name: value for name, value in names.items() if value is not None} | {"error": self.error}


class WouldRun(msgspec.Struct, frozen=True):
    """A due job that a dry run found."""

    job: int
    kind: str
    queue: str


class Summary(msgspec.Struct):
    """Counts of one tick; filled in as attempts end, then answered and logged."""

    trigger: str
    tick: int | None = None
    not_run: NotRun | None = None
    stop_reason: StopReason = "empty"
    claimed: int = 0
    succeeded: int = 0
    failed: int = 0
    dead: int = 0
    snoozed: int = 0
    cancelled: int = 0
    handed_back: int = 0
    duplicates: int = 0
    rescued: int = 0
    lost: int = 0
    scheduled: int = 0
    asked: int = 0
    """Ticks that the platform was asked for beside this one."""
    reminders: dict[str, Fired] = {}
    more: bool = False
    next_due_at: datetime | None = None
    wake_at: datetime | None = None
    """When the alarm that this tick set goes off; answered where there is one."""
    oldest_due_seconds: int = 0
    late_seconds: int | None = None
    duration_ms: int = 0
    would_run: list[WouldRun] | None = None
    """What a dry run found; None when this was none."""
    retire: bool = False
    """A thread of this tick cannot be stopped: the process should take no further tick (P7). Never answered."""
    kinds: "dict[str, KindTally]" = {}
    """The attempts that ended, kind by kind. Never answered."""
    alerts: Sequence[str] = ()
    """The names of those that are active when the tick closes. Never answered."""
    warnings: list[str] = []
    errors: list[Trouble] = []

    @property
    def ran(self) -> bool:
        """False when the tick was let in but ran nothing: busy, or paused."""
        return self.not_run is None

    def trouble(self, trouble: Trouble) -> None:
        """Keep an error; the first five are kept."""
        if len(self.errors) < ERRORS_AT_MOST:
            self.errors.append(trouble)

    def warn(self, warning: str) -> None:
        """Keep a warning once, however often it is found."""
        if warning not in self.warnings:
            self.warnings.append(warning)

    def as_dict(self, *, verbose: bool = False) -> dict[str, Any]:
        """The JSON of DESIGN 5.1; under 2 KB unless ``verbose``: some callers take a longer answer for a failure."""
        if verbose:
            return _answer(self)
        for entries, names, width in SIZES:
            answer = _answer(self._shortened(entries, names, width))
            if len(msgspec.json.encode(answer)) < BRIEF_BYTES:
                break
        return answer

    def _shortened(self, entries: int, names: int, width: int) -> "Summary":
        """A copy with so many errors, warnings and jobs, so many reminders by name, and texts of that width."""
        return msgspec.structs.replace(
            self,
            reminders=_busiest(self.reminders, names),
            would_run=self.would_run if self.would_run is None else self.would_run[:entries],
            warnings=[_cut(warning, width) for warning in self.warnings[:entries]],
            errors=[
                msgspec.structs.replace(trouble, error=_cut(trouble.error, width)) for trouble in self.errors[:entries]
            ],
        )


def _answer(summary: Summary) -> dict[str, Any]:
    if summary.not_run is not None:
        return {
            "ran": False,
            "reason": summary.not_run,
            "trigger": summary.trigger,
            "rescued": summary.rescued,
            "next_due_at": _utc(summary.next_due_at),
            "duration_ms": summary.duration_ms,
            "warnings": summary.warnings,
        } | _wake(summary)
    answer: dict[str, Any] = {
        "tick": summary.tick,
        "ran": True,
        "trigger": summary.trigger,
        "stop_reason": summary.stop_reason,
        **{count: getattr(summary, count) for count in COUNTS},
        "scheduled": summary.scheduled,
        "asked": summary.asked,
        "reminders": {name: msgspec.structs.asdict(fired) for name, fired in summary.reminders.items()},
        "more": summary.more,
        "next_due_at": _utc(summary.next_due_at),
        "oldest_due_seconds": summary.oldest_due_seconds,
        "late_seconds": summary.late_seconds,
        "duration_ms": summary.duration_ms,
        "warnings": summary.warnings,
        "errors": [trouble.as_dict() for trouble in summary.errors],
    }
    if summary.would_run is not None:
        answer["would_run"] = [msgspec.structs.asdict(job) for job in summary.would_run]
    return answer | _wake(summary)


def _wake(summary: Summary) -> dict[str, Any]:
    return {} if summary.wake_at is None else {"wake_at": _utc(summary.wake_at)}


def _busiest(reminders: dict[str, Fired], names: int) -> dict[str, Fired]:
    """So many reminders by name, those that did most first; the rest are added up as ``others``."""
    ranked = sorted(reminders.items(), key=lambda item: -(item[1].fired + item[1].skipped_late))
    shown = dict(ranked[:names])
    if rest := [fired for _, fired in ranked[names:]]:
        shown["others"] = Fired(sum(r.fired for r in rest), sum(r.skipped_late for r in rest))
    return shown


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
