"""The end of a Lambda process that has a thread which nobody can stop (P7)."""

import os
import sys
from typing import Any, Final, NoReturn

from crontick.handler.logs import log

__all__ = ["called_by_the_runtime", "end", "last_answer"]

RUNTIME_CLIENT: Final = "awslambdaric"


class _LastAnswer(dict[str, Any]):
    """Ends the process when it is forgotten. AWS's runtime client holds an answer until it has posted it."""

    def __del__(self) -> None:
        end("after its last answer")


def called_by_the_runtime() -> bool:
    """Whether whoever called our caller is AWS's runtime client: a wrapper may forget an answer before it is posted."""
    caller = sys._getframe(2)  # noqa: SLF001 (nothing else tells)
    return str(caller.f_globals.get("__name__", "")).partition(".")[0] == RUNTIME_CLIENT


def last_answer(answer: dict[str, Any]) -> dict[str, Any]:
    """The same; the process ends when it was posted, before the freeze: no thread thaws inside the next call."""
    return _LastAnswer(answer)


def end(when: str) -> NoReturn:
    """End the process now: the platform starts another for the next call."""
    log.warning("a function's thread cannot be stopped: this process ends %s", when)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(1)
