"""One JSON object a line, without any secret in it."""

import json
import logging
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from crontick.jobs import texts

Redact = Callable[[str], str]

log: Final = logging.getLogger("crontick")


def configure(redact: Redact) -> None:
    """Make crontick's own logger write to stderr, and quieten those that would write a URL with its query.

    For a process that is all ours; inside somebody's app nothing of logging is touched.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(redact))
    log.handlers[:] = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False
    for noisy in ("httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    access = logging.getLogger("uvicorn.access")
    access.filters[:] = [without_query]


def without_query(record: logging.LogRecord) -> bool:
    """A filter for uvicorn's access log: the path stays, its query string goes."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            argument.partition("?")[0] if isinstance(argument, str) else argument for argument in record.args
        )
    return True


class _Lines(logging.Formatter):
    def __init__(self, redact: Redact) -> None:
        super().__init__()
        self._redact = redact

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1]:
            # Not the traceback module's own text: a database's error would quote the row, a connection's the DSN.
            line["error"] = texts.describe(record.exc_info[1])
            line["traceback"] = "".join(traceback.format_tb(record.exc_info[2]))
        return json.dumps(self._clean(line), default=str)

    def _clean(self, value: Any) -> Any:
        match value:
            case str():
                return self._redact(value)
            case dict():
                return {key: self._clean(part) for key, part in value.items()}
            case list() | tuple():
                return [self._clean(part) for part in value]
        return value
