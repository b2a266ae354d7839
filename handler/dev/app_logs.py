"""What the app's process logs, as lines like all others."""

import logging
import sys
import time
from typing import Final

from crontick.handler.dev.lines import Lines
from crontick.handler.dev.summaries import Summaries
from crontick.handler.dev.tracebacks import told
from crontick.handler.logs import without_query
from crontick.handler.paths import TICK_PATHS
from crontick.jobs.redact import Redactor

_LEVELS: Final = {
    "crontick": logging.INFO,
    "crontick.run": logging.ERROR,  # what functions raise is told by the hook around them
    "uvicorn": logging.WARNING,
    "uvicorn.access": logging.INFO,
}


def tell(lines: Lines, redact: Redactor, summaries: Summaries) -> None:
    """Requests, warnings, errors, and what a tick did, whoever called it; all else is the user's."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(_AsLines(lines, redact))
    handler.addFilter(_is_told)
    for name, level in _LEVELS.items():
        logger = logging.getLogger(name)
        logger.handlers[:], logger.propagate = [handler], False
        logger.setLevel(level)
    logging.getLogger("crontick").addHandler(_Ticks(summaries))
    logging.getLogger("uvicorn.access").filters[:] = [without_query, _is_no_tick]


def _is_no_tick(record: logging.LogRecord) -> bool:
    return not (isinstance(record.args, tuple) and record.args[2:3] and record.args[2] in TICK_PATHS)


def _is_told(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.name == "uvicorn.access"


class _Ticks(logging.Handler):
    """Hands on the summaries, which the door of the tick logs."""

    def __init__(self, summaries: Summaries) -> None:
        super().__init__()
        self._summaries = summaries

    def emit(self, record: logging.LogRecord) -> None:
        fields = getattr(record, "fields", {})
        if record.name == "crontick" and "ran" in fields:
            self._summaries.tell(fields, time.monotonic())


class _AsLines(logging.Formatter):
    def __init__(self, lines: Lines, redact: Redactor) -> None:
        super().__init__()
        self._lines, self._redact = lines, redact

    def format(self, record: logging.LogRecord) -> str:
        if record.name == "uvicorn.access" and isinstance(record.args, tuple):
            _, method, path, _, status = record.args
            line = self._lines.line("http", f"{method} {path} {status}")
        else:
            error = record.exc_info[1] if record.exc_info else None
            text = record.exc_text or (told(error) if error is not None else "")
            message, *rest = self._redact(f"{record.getMessage()}\n{text}").splitlines()
            line = self._lines.line(record.levelname.lower(), message, text="\n".join(rest))
        return line.removesuffix("\n")
