"""One JSON object a line, or a line of text, without any secret in it."""

import json
import logging
import sys
import traceback
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final, Literal

from crontick.jobs import texts
from crontick.jobs.settings import Settings
from crontick.jobs.summary import Summary

Redact = Callable[[str], str]
LogFormat = Literal["json", "text"]

log: Final = logging.getLogger("crontick")
LAMBDA_LEVELS: Final = {"WARNING": "WARN", "CRITICAL": "FATAL"}


def configure(
    redactor: Redact, *, lambda_request_id: Callable[[], str] | None = None, log_format: LogFormat = "json"
) -> None:
    """Make crontick's own logger write to stderr, and quieten those that would write a URL with its query.

    For a process that is all ours; inside somebody's app nothing of logging is touched. ``lambda_request_id`` tells
    that of the invocation: the lines then have the words by which Lambda's own filter and its searches read them.
    ``text`` is for people, and has the fields behind the message.
    """
    handler = logging.StreamHandler(sys.stderr)
    words = _words_of_lambda(lambda_request_id) if lambda_request_id else _words
    handler.setFormatter(_Lines(redactor, words) if log_format == "json" else _Lines(redactor, _words, _as_text))
    log.handlers[:] = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False
    for noisy in ("httpx", "httpcore"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    access = logging.getLogger("uvicorn.access")
    access.filters[:] = [without_query]


def redact(redactor: Redact, *, kinds: Iterable[str]) -> None:
    """Clean what our own loggers say, those of functions of ``kinds`` too, and leave all else of logging as it is.

    For crontick inside somebody's app. A filter holds for one logger and not for those below it.
    """
    clean = _Clean(redactor)
    for logger in (log, *map(log.getChild, ("tick", "run", *(f"kinds.{kind}" for kind in kinds)))):
        logger.filters[:] = [one for one in logger.filters if not isinstance(one, _Clean)] + [clean]


def push(summary: Summary, settings: Settings) -> None:
    """Tell whoever collects metrics what the tick did, where ``CRONTICK_METRICS`` wants it."""
    if settings.metrics == "emf":
        from crontick.jobs.emf import write

        write(summary, settings.environment)


def without_query(record: logging.LogRecord) -> bool:
    """A filter for uvicorn's access log: the path stays, its query string goes."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            argument.partition("?")[0] if isinstance(argument, str) else argument for argument in record.args
        )
    return True


def _words(record: logging.LogRecord, at: str) -> dict[str, Any]:
    return {"at": at, "level": record.levelname.lower()}


def _words_of_lambda(request_id: Callable[[], str]) -> Callable[[logging.LogRecord, str], dict[str, Any]]:
    def words(record: logging.LogRecord, at: str) -> dict[str, Any]:
        return {
            "timestamp": at,
            "level": LAMBDA_LEVELS.get(record.levelname, record.levelname),
            "requestId": request_id(),
        }

    return words


def _as_json(value: Any) -> str:
    return json.dumps(value, default=str)


def _as_text(line: dict[str, Any]) -> str:
    """What is told in lines of its own, a traceback for one, stands below the fields."""
    message, *below = str(line["message"]).splitlines() or [""]
    below += str(line.get("traceback") or "").splitlines()
    shown = ("at", "level", "message", "traceback")
    fields = [f"{name}={_as_json(value)}" for name, value in line.items() if name not in shown and value is not None]
    return "\n".join([" ".join([line["at"], line["level"].upper(), message, *fields]), *below])


class _Lines(logging.Formatter):
    def __init__(
        self,
        redactor: Redact,
        words: Callable[[logging.LogRecord, str], dict[str, Any]],
        written: Callable[[dict[str, Any]], str] = _as_json,
    ) -> None:
        super().__init__()
        self._redact = redactor
        self._words = words
        self._written = written

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            **self._words(record, datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info and record.exc_info[1]:
            line["error"], line["traceback"] = _told(record.exc_info[1])
        return self._written(_cleaned(line, self._redact))


class _Clean(logging.Filter):
    def __init__(self, redactor: Redact) -> None:
        super().__init__()
        self._redact = redactor

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redact(record.getMessage()), None
        if hasattr(record, "fields"):
            record.fields = _cleaned(record.fields, self._redact)
        if record.exc_info and record.exc_info[1]:
            error, trace = _told(record.exc_info[1])
            record.exc_text, record.exc_info = self._redact(f"{trace}{error}"), None
        return True


def _told(error: BaseException) -> tuple[str, str]:
    """Not the traceback module's own text: a database's error would quote the row, a connection's the DSN."""
    return texts.describe(error), "".join(traceback.format_tb(error.__traceback__))


def _cleaned(value: Any, redactor: Redact) -> Any:
    match value:
        case str():
            return redactor(value)
        case dict():
            return {key: _cleaned(part, redactor) for key, part in value.items()}
        case list() | tuple():
            return [_cleaned(part, redactor) for part in value]
    return value
