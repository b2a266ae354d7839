"""One alert for one channel, as the closing of a tick gives it, and its words."""

import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

__all__ = ["Message", "clean"]

RUNBOOK: Final = "https://github.com/crontick/crontick/blob/main/docs/runbook.md"
_PAGE: Final = "/dashboard"


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """That an alert started, or ended; ``error`` is the only text that is not crontick's own (P31)."""

    alert: int
    channel: str
    event: Literal["started", "ended"]
    name: str
    subject: str
    since: datetime
    ended_at: datetime | None
    counted: int
    what: str
    mend: str
    error: str | None
    job: int | None

    @property
    def started(self) -> bool:
        """Whether it tells of the start."""
        return self.event == "started"

    @property
    def headline(self) -> str:
        """What happens, in a line."""
        return f"{self.name}: {clean(self.what)}" if self.started else f"{self.name} is over: {clean(self.what)}"

    @property
    def mending(self) -> str | None:
        """The command to begin with; None once it is over."""
        return clean(self.mend) if self.started else None

    def redacted(self, redact: Callable[[str], str]) -> "Message":
        """Without any secret that this deployment was given (P36)."""
        error = self.error if self.error is None else redact(self.error)
        return msgspec.structs.replace(
            self, what=redact(self.what), mend=redact(self.mend), subject=redact(self.subject), error=error
        )

    def lines(self, *, public_url: str | None, private: bool) -> list[str]:
        """Since when, how many, and where to look; the first error only where ``private``, for it may quote anybody."""
        since = f"since {_said(self.since)}"
        if self.ended_at is not None and not self.started:
            since += f" until {_said(self.ended_at)}"
        said = [f"{since}, count {self.counted}"]
        if self.started and self.job is not None:
            said.append(f"first job: {self.job}")
        if self.started and private and self.error:
            said.append(f"first error: {clean(self.error)}")
        if public_url:
            said.append(f"{public_url}{_PAGE}")
        if self.started:
            said.append(f"{RUNBOOK}#{self.name.replace('_', '-')}")
        return said


def clean(text: str) -> str:
    """One line without control characters, nor invisible ones that turn what follows (P43)."""
    return "".join(
        " " if character in "\n\t" else character
        for character in text
        if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}
    )


def _said(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
