"""What a caller may ask of one tick."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Final

import msgspec
from msgspec import Meta

NAME_PATTERN: Final = r"^[a-z0-9][a-z0-9_.-]{0,63}\Z"
NO_CONTROL_CHARACTERS: Final = r"^[^\x00-\x1f\x7f-\x9f]*\Z"
EARLIEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2100, 1, 1, tzinfo=UTC)

DEEPEST: Final = 5
"""A tick that so many others lie behind, each asked for by the one before, asks for none (P42)."""

Name = Annotated[str, Meta(pattern=NAME_PATTERN)]
Names = Annotated[tuple[Name, ...], Meta(min_length=1, max_length=100)]
JobId = Annotated[int, Meta(ge=1, le=2**63 - 1)]

RANGES: Final = {
    "limit": "must be a whole number of jobs from 1 to 1000",
    "budget_seconds": "must be a number of seconds from 1 to 900",
    "queues": "must be a list of 1 to 100 names; a name is lower-case letters, digits, _ . -, at most 64",
    "kinds": "must be a list of 1 to 100 names; a name is lower-case letters, digits, _ . -, at most 64",
    "jobs": "must be a list of 1 to 100 job ids, whole numbers from 1",
    "dry_run": "must be true or false",
    "trigger": "must be a text of 1 to 64 characters without control characters",
    "scheduled_for": "must be a time with its zone between 2000 and 2100, such as 2026-11-30T09:15:00Z",
    "verbose": "must be true or false",
    "depth": "must be a whole number from 0 to 5",
}


class BadRequest(Exception):
    """The body is not a JSON object (HTTP 400)."""


class OutOfRange(Exception):
    """A field of the body is unknown or out of range; the text names it (HTTP 422)."""


class TickRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The body of ``POST /cron/tick``; ``None`` means that the caller did not say.

    The ranges are those of DESIGN 5.1, with names as in P34.
    """

    limit: Annotated[int, Meta(ge=1, le=1000)] | None = None
    budget_seconds: Annotated[float, Meta(ge=1, le=900)] | None = None
    queues: Names | None = None
    kinds: Names | None = None
    jobs: Annotated[tuple[JobId, ...], Meta(min_length=1, max_length=100)] | None = None
    dry_run: bool = False
    trigger: Annotated[str, Meta(min_length=1, max_length=64, pattern=NO_CONTROL_CHARACTERS)] | None = None
    scheduled_for: Annotated[datetime, Meta(tz=True)] | None = None
    verbose: bool = False
    depth: Annotated[int, Meta(ge=0, le=DEEPEST)] = 0

    def __post_init__(self) -> None:
        if self.scheduled_for is not None and not EARLIEST <= self.scheduled_for < LATEST:
            raise ValueError("scheduled_for")


def parse(body: bytes) -> TickRequest:
    """Read a body; an empty one asks for nothing in particular.

    Raises ``BadRequest`` for what is not a JSON object and ``OutOfRange`` for the first field that is wrong.
    """
    return checked(_fields(body)) if body.strip() else TickRequest()


def checked(fields: Mapping[str, object]) -> TickRequest:
    """A request out of its fields; raises ``OutOfRange`` for the first that is wrong."""
    for field in fields:
        if field not in RANGES:
            raise OutOfRange(f"there is no field {_shown(field)}; the fields are {', '.join(RANGES)}")
    for field, given in fields.items():
        try:
            msgspec.convert({field: given}, TickRequest)
        except msgspec.ValidationError:
            raise OutOfRange(f"{field} {RANGES[field]}") from None
    return msgspec.convert(dict(fields), TickRequest)


def _fields(body: bytes) -> dict[str, object]:
    try:
        decoded = msgspec.json.decode(body)
    except msgspec.ValidationError:
        raise OutOfRange("a number in the body is too large") from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise BadRequest('the body is not JSON in UTF-8: send an object such as {"limit": 100}, or no body') from None
    if not isinstance(decoded, dict):
        raise BadRequest('the body must be a JSON object such as {"limit": 100}, or empty')
    return decoded


def _shown(field: str) -> str:
    return repr(field if len(field) <= 64 else field[:63] + "…")
