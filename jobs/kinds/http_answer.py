"""What an app's 2xx to an HTTP kind says: the job's result, or another fate."""

import json
from typing import Any, NoReturn

from crontick.jobs.context import Context
from crontick.jobs.kinds.answers import kept
from crontick.jobs.outbound import ANSWER_BYTES, Answer
from crontick.jobs.signals import Cancel, Permanent, Retry, Snooze

__all__ = ["fate"]


def fate(answer: Answer, host: str, ctx: Context) -> Any:
    """The result: the body where it is JSON, nothing where it is empty or plain text. What steers is raised.

    An object with one of these names alone steers: ``snooze`` (seconds), ``dead`` and ``cancel`` (why), ``completed``
    (true: the app called ``crontick.complete``, and only its transaction decides). Broken JSON, an HTML page and an
    answer that breaks off say nothing that can be relied on, so the attempt failed; one that is too long would be no
    shorter the next time, so the job is dead.
    """
    said, status = f"{answer.status} from {host}", answer.status
    if not answer.whole and len(answer.body) == ANSWER_BYTES:
        raise Permanent(f"{said}, with more than the 16 KiB that are read: answer with a reference", status_code=status)
    if not answer.whole:
        raise Retry(f"{said}, whose body did not end in time", status_code=status)
    try:
        read = json.loads(answer.body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        text = answer.body.strip()
        claimed = "json" in answer.headers.get("content-type", "").lower()
        if text and (claimed or text.startswith((b"<", b"{", b"["))):
            what = "an HTML page: is the URL the app's own route?" if text.startswith(b"<") else "JSON that is broken"
            raise Retry(f"{said}, with {what}", status_code=status, detail=kept(answer.body)) from None
        return None
    if isinstance(read, dict) and len(read) == 1:
        [(name, value)] = read.items()
        return _steered(name, value, said, ctx) if name in _STEERING else read
    return read


_STEERING = {
    "snooze": "a number of seconds",
    "dead": "a text that says why",
    "cancel": "a text that says why",
    "completed": "true",
}


def _steered(name: str, value: Any, said: str, ctx: Context) -> None:
    match name, value:
        case "snooze", int() | float() if not isinstance(value, bool):
            raise Snooze(value)
        case "dead", str():
            raise Permanent(f"{said} says that it is dead", detail=value)
        case "cancel", str():
            raise Cancel(value)
        case "completed", True:
            ctx.completing = True
            return
    raise Retry(f'{said}, whose "{name}" is not {_STEERING[name]}')


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
