"""How an attempt can end, and what becomes of its markers: closed sets."""

from typing import Any, Final, Literal, TypeAlias

import msgspec

__all__ = [
    "Cancelled",
    "Cut",
    "Dead",
    "Failed",
    "HandedBack",
    "Mark",
    "Outcome",
    "Reservation",
    "Snoozed",
    "Succeeded",
    "Target",
    "found",
]

Cut: TypeAlias = Literal["timeout", "deadline"]
"""Why the engine ended an attempt: its own time was over, or the tick's."""
Target: TypeAlias = Literal["ok", "failed", "nothing"]
"""How an attempt found what it calls, for the breaker; nothing: it cannot say."""
LATER: Final = frozenset({408, 425, 429})
"""Of the 4xx those that are not about this request: the receiver has no time for it now."""


class Succeeded(msgspec.Struct, frozen=True, gc=False):
    """``result`` is JSON, or None. ``duplicate``: the marker said that this was sent before."""

    result: str | None = None
    duplicate: bool = False
    note: str | None = None


class Failed(msgspec.Struct, frozen=True, gc=False):
    """Will be tried again after ``retry_seconds``. ``public`` is what a log that anybody reads may hold (P31).

    ``runs_on``: what could not be stopped may run until the lease's end, so that its group waits (P7).
    """

    error: str
    public: str
    retry_seconds: float
    fingerprint: str | None = None
    status_code: int | None = None
    runs_on: bool = False


class Dead(msgspec.Struct, frozen=True, gc=False):
    """Stopped retrying; waits for a person."""

    error: str
    public: str
    fingerprint: str | None = None
    status_code: int | None = None


class Snoozed(msgspec.Struct, frozen=True, gc=False):
    """Runs later; no attempt is used."""

    delay_seconds: float


class Cancelled(msgspec.Struct, frozen=True, gc=False):
    """The function noticed that nobody wants its job any more."""

    reason: str


class HandedBack(msgspec.Struct, frozen=True, gc=False):
    """The deadline came before it began, or before it could end. No attempt is used.

    ``missing_key``: it cannot begin here, and waits for a deployment that has that key (P37).
    """

    began: bool
    delay_seconds: float = 0.0
    missing_key: str | None = None


Outcome: TypeAlias = Succeeded | Failed | Dead | Snoozed | Cancelled | HandedBack


class Mark(msgspec.Struct, frozen=True, gc=False):
    """What an attempt knows of one marker at its end: sent, free or in_doubt."""

    kind: str
    key: str
    state: str
    provider: str | None = None
    message_id: str | None = None
    content_hash: str | None = None
    details: dict[str, Any] | None = None


class Reservation(msgspec.Struct, frozen=True, gc=False):
    """What a marker is when an attempt asks for it: reserved (by this attempt), taken, sent, in_doubt or lost.

    ``doubted`` is the hash of what a send in doubt sent that this one repeats, empty where nobody knows it.
    """

    state: str
    holder: int | None = None
    seconds: float = 0.0
    doubted: str | None = None


def found(status: int) -> Target:
    """What an HTTP answer of that status says of its sender."""
    return "failed" if status in LATER or status >= 500 else "ok"
