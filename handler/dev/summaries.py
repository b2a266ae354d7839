"""What is told of the ticks: what one did, why there is none, and once a minute that nothing was due."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from crontick.handler.dev.lines import Lines

IDLE: Final = timedelta(minutes=1)
TRIGGER: Final = "crontick dev"
CLOCK: Final = "the test clock is installed: times may be moved"
COUNTS: Final = (
    "claimed", "succeeded", "failed", "dead", "snoozed", "cancelled", "handed_back", "duplicates", "rescued", "lost",
    "scheduled",
)  # fmt: skip


class Troubles:
    """Why there was no tick; told when it begins, and not again before a tick ran."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._told = ""

    def tell(self, sentence: str) -> None:
        """There was no tick."""
        if sentence != self._told:
            self._told = sentence
            self._lines.tell("tick", sentence)

    def over(self) -> None:
        """There was one."""
        self._told = ""


class Summaries:
    """Remembers what it told, and when; moments are those of a monotonic clock.

    ``own_clock``: the database is dev's own, which made it with the test clock and has nobody to warn of it.
    """

    def __init__(self, lines: Lines, now_seconds: float, *, own_clock: bool = False) -> None:
        self._lines = lines
        self._spoke_at_seconds = now_seconds
        self._warned: set[str] = set()
        self._troubles = Troubles(lines)
        self._unsaid = {CLOCK} if own_clock else set[str]()

    def tell(self, summary: Mapping[str, Any], now_seconds: float) -> None:
        """A tick's answer."""
        if not summary["ran"]:
            self._spoke_at_seconds = now_seconds
            self._troubles.tell(f"no tick: {summary.get('reason')}")
            return
        self._troubles.over()
        warnings = [warning for warning in summary["warnings"] if warning not in self._unsaid]
        for warning in warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                self._say(f"warning: {warning}", now_seconds)
        if done := _done(summary):
            by = "" if summary["trigger"] == TRIGGER else f", called by {summary['trigger']}"
            sentence = f"{summary['tick']}: {done} ({summary['duration_ms']} ms{by})"
            errors = "\n".join(map(_error, summary["errors"]))
            self._say(sentence, now_seconds, text=errors, fields={**summary, "warnings": warnings})
        elif now_seconds - self._spoke_at_seconds >= IDLE.total_seconds():
            due = summary["next_due_at"]
            then = f"the next job is due at {due}" if due else "no job waits"
            self._say(f"nothing was due for a minute; {then}", now_seconds)

    def _say(
        self, sentence: str, now_seconds: float, *, text: str = "", fields: Mapping[str, Any] | None = None
    ) -> None:
        self._spoke_at_seconds = now_seconds
        self._lines.tell("tick", sentence, text=text, fields=fields)


def _done(summary: Mapping[str, Any]) -> str:
    done = [f"{name} {summary[name]}" for name in COUNTS if summary.get(name)]
    done += [f"{name}: {told['fired']} reminders" for name, told in summary["reminders"].items() if told["fired"]]
    return ", ".join(done)


def _error(one: Mapping[str, Any]) -> str:
    whose = f"job {one['job']} ({one['kind']})" if "job" in one else f"reminder {one.get('reminder')}"
    return f"{whose}: {one['error']}"
