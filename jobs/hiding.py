"""What a function says of its secret fields, taken out of its result and of what it logs (P36)."""

import json
import logging
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from crontick.jobs import texts
from crontick.jobs.redact import REDACTED

__all__ = ["Hiding", "hidden"]


def hidden(result: str, hides: Callable[[str], str]) -> str:
    """The result, a JSON text, with every text and number that holds a secret replaced."""
    if hides(result) == result:
        return result
    return json.dumps(_hidden(json.loads(result), hides), separators=(",", ":"))


def _hidden(value: Any, hides: Callable[[str], str]) -> Any:
    match value:
        case str():
            return hides(value)
        case dict():
            return {hides(name): _hidden(part, hides) for name, part in value.items()}
        case list():
            return [_hidden(part, hides) for part in value]
        case int() | float() if hides(str(value)) != str(value):
            return REDACTED
    return value


class Hiding(logging.LoggerAdapter[logging.Logger]):
    """A logger of one job: what it is told goes out without the job's secrets."""

    def __init__(self, logger: logging.Logger, extra: Mapping[str, object], hides: Callable[[str], str]) -> None:
        super().__init__(logger, extra)
        self._hides = hides

    def log(self, level: int, msg: object, *args: object, exc_info: Any = None, **kwargs: Any) -> None:
        """As any logger's; a traceback becomes part of the text."""
        if not self.isEnabledFor(level):
            return
        try:
            text = str(msg) % args if args else str(msg)
        except (TypeError, ValueError):
            text = str(msg)
        if error := _error(exc_info):
            text += f"\n{''.join(traceback.format_tb(error.__traceback__))}{texts.describe(error)}"
        kwargs.setdefault("stacklevel", 2)
        text, kwargs = self.process(self._hides(text), kwargs)  # type: ignore[assignment]
        self.logger.log(level, text, **kwargs)


def _error(told: object) -> BaseException | None:
    match told:
        case BaseException():
            return told
        case (_, BaseException() as error, _):
            return error
    return sys.exc_info()[1] if told else None
