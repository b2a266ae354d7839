"""What is told of the ticks: what one did, why there is none, and once a minute that nothing was due."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from crontick.handler.dev.lines import Lines

IDLE: Final = timedelta(minutes=1)
COUNTS: Final = (
    "claimed", "succeeded", "failed", "dead", "snoozed", "cancelled", "handed_back", "duplicates", "rescued", "lost",
    "scheduled",
)  # fmt: skip


class Summaries:
    """Remembers what it told, and when; moments are those of a monotonic clock."""

    def __init__(self, lines: Lines, now_seconds: float) -> None:
        self._lines = lines
        self._spoke_at_seconds = now_seconds
        self._warned: set[str] = set()
        self._trouble = ""

    def tell(self, summary: Mapping[str, Any], now_seconds: float) -> None:
        """A tick's answer."""
        if not summary["ran"]:
            self.trouble(f"no tick: {summary.get('reason')}", now_seconds)
            return
        self._trouble = ""
        for warning in summary["warnings"]:
            if warning not in self._warned:
                self._warned.add(warning)
                self._say(f"warning: {warning}", now_seconds)
        if done := _done(summary):
            errors = (f"job {one['job']} ({one['kind']}): {one['error']}" for one in summary["errors"])
            sentence = f"{summary['tick']}: {done} ({summary['duration_ms']} ms)"
            self._say(sentence, now_seconds, text="\n".join(errors), fields=summary)
        elif now_seconds - self._spoke_at_seconds >= IDLE.total_seconds():
            due = summary["next_due_at"]
            then = f"the next job is due at {due}" if due else "no job waits"
            self._say(f"nothing was due for a minute; {then}", now_seconds)

    def trouble(self, sentence: str, now_seconds: float) -> None:
        """Why there was no tick; told when it begins, and not again before a tick ran."""
        if sentence != self._trouble:
            self._trouble = sentence
            self._say(sentence, now_seconds)

    def _say(
        self, sentence: str, now_seconds: float, *, text: str = "", fields: Mapping[str, Any] | None = None
    ) -> None:
        self._spoke_at_seconds = now_seconds
        self._lines.tell("tick", sentence, text=text, fields=fields)


def _done(summary: Mapping[str, Any]) -> str:
    done = [f"{name} {summary[name]}" for name in COUNTS if summary.get(name)]
    done += [f"{name}: {told['fired']} reminders" for name, told in summary["reminders"].items() if told["fired"]]
    return ", ".join(done)
