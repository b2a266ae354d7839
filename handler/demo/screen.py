"""How the demo speaks: a line a step, the summaries as they came, and a mark for each thing that was checked."""

import json
import sys
import time
from collections.abc import Sequence
from typing import Any

__all__ = ["Screen"]


class Screen:
    """Writes to stdout; counts what was off."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bold, self._dim, self._plain = ("\x1b[1m", "\x1b[2m", "\x1b[0m") if sys.stdout.isatty() else ("", "", "")
        self.wrong = 0

    def step(self, text: str) -> None:
        """A new scene, and when it began."""
        print(f"\n{self._bold}{time.monotonic() - self._started:5.1f} s  {text}{self._plain}", flush=True)

    def say(self, text: str) -> None:
        """Lines of a scene."""
        for line in text.splitlines():
            print(f"         {line}", flush=True)

    def summary(self, name: str, summary: dict[str, Any]) -> None:
        """What a tick answered, without what is empty."""
        told = {key: value for key, value in summary.items() if value not in (0, [], {}, None, False)}
        told.pop("warnings", None)
        self.say(f"{self._dim}{name} <-{self._plain} {json.dumps(told)}")

    def check(self, text: str, fact: object) -> None:
        """One promise, kept or not."""
        self.wrong += 0 if fact else 1
        self.say(f"{'ok ' if fact else 'OFF'}  {text}")

    def table(self, rows: Sequence[tuple[str, ...]]) -> None:
        """Columns as wide as they need; the first row is the head."""
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        for number, row in enumerate(rows):
            self.say("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
            if number == 0:
                self.say("  ".join("-" * width for width in widths))
