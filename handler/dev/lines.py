"""What a person reads while developing: one line for each thing that happened, or one JSON object."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from crontick.handler.cli.screen import clean


@dataclass(frozen=True, slots=True)
class Lines:
    """Writes to stdout. Two processes and several threads share it, so each thing is written at once."""

    as_json: bool = False

    def tell(self, event: str, sentence: str, *, text: str = "", fields: Mapping[str, Any] | None = None) -> None:
        """One thing that happened; ``text`` has lines that belong to it, such as a traceback or a mail."""
        sys.stdout.write(self.line(event, sentence, text=text, fields=fields))
        sys.stdout.flush()

    def line(self, event: str, sentence: str, *, text: str = "", fields: Mapping[str, Any] | None = None) -> str:
        """The same, not written; control characters never get through (P43)."""
        if self.as_json:
            at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            told = {"at": at, "event": event, "message": sentence, **({"text": text} if text else {}), **(fields or {})}
            return json.dumps(told, default=str) + "\n"
        below = "".join(f"         | {clean(line)}\n" for line in text.splitlines())
        return f"{datetime.now():%H:%M:%S} {event:<7} {clean(sentence)}\n{below}"  # noqa: DTZ005 (a person's own clock)
