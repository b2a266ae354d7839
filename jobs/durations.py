"""Lengths of time as people write them: 45s, 90m, 24h, 7d."""

import re
from datetime import timedelta
from typing import Annotated, Final

import msgspec

UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
LONGEST: Final = timedelta(days=3660)
SECONDS: Final = {"a bare number is": "seconds"}
Seconds = Annotated[timedelta, msgspec.Meta(extra=SECONDS)]
"""A length of time that may also be a bare number, which counts seconds."""


def duration(text: str) -> timedelta:
    """Raises ``ValueError``, with an example, for what is none or is longer than ten years."""
    match = re.fullmatch(r"([0-9]{1,8})([smhd])", text)
    length = timedelta(**{UNITS[match[2]]: int(match[1])}) if match else None
    if length is None or length > LONGEST:
        raise ValueError(f"{text!r} is not a length of time: write 45s, 90m, 24h or 7d")
    return length


def seconds(number: float) -> timedelta:
    """A bare number where its unit is understood; raises ``ValueError`` as ``duration`` does."""
    if not 0 <= number <= LONGEST.total_seconds():
        raise ValueError(f"{number!r} is not a number of seconds")
    return timedelta(seconds=number)
