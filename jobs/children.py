"""A child is refused where its parent names it: what the settle is told must fit, or it costs others their outcomes."""

import re
from datetime import datetime
from typing import Any, Final

from crontick.jobs.enqueue import Order
from crontick.jobs.request import EARLIEST, NAME_PATTERN

__all__ = ["child_of"]

_KEY_BYTES: Final = 8192
_UNSTORABLE: Final = "[\x00\ud800-\udfff]"
_TEN_YEARS_SECONDS: Final = 10 * 366 * 86400
_INTERVAL: Final = r"(-?[\d.e+]+) seconds"
"""What a timedelta was made of. An interval in words is read by the database alone."""


def child_of(order: Order, parent_created_at: datetime) -> dict[str, Any]:
    """The order as the settle is told it. Raises ``ValueError`` for what ``crontick.enqueue`` would refuse.

    Of times only that is judged which no clock can change: the database's is later than ``parent_created_at``.
    """
    if said := _refused(order, parent_created_at):
        raise ValueError(f"{order.kind}.enqueue: {said}")
    return {**order.as_json(), "payload": order.payload}


def _refused(order: Order, now_at_least: datetime) -> str | None:
    """What is wrong with it, in a sentence; None where nothing is."""
    if order.queue is not None and not re.match(NAME_PATTERN, order.queue):
        return f'queue {order.queue[:80]!r} is no name: lower-case letters, digits, "_", "." and "-", 64 at most'
    if order.priority is not None and not -100 <= order.priority <= 100:
        return f"priority {order.priority} is not between -100 and 100"
    if order.max_attempts is not None and not 1 <= order.max_attempts <= 100:
        return f"max_attempts {order.max_attempts} is not between 1 and 100"
    for name, text in (("unique_key", order.unique_key), ("group_key", order.group_key)):
        if text is not None and (said := _no_key(text)):
            return f"{name} {said}"
    return _wrong_unique_for(order.unique_for) or _wrong_time(order, now_at_least)


def _no_key(text: str) -> str | None:
    if re.search(_UNSTORABLE, text):
        return f"{text[:80]!r} holds a NUL or half of a surrogate pair, which PostgreSQL cannot store: take it out"
    if not 1 <= len(text.encode()) <= _KEY_BYTES:
        return f"has 1 to {_KEY_BYTES} bytes, not {len(text.encode())}: leave it out for none, hash a long text"
    return None


def _wrong_unique_for(said: str) -> str | None:
    length = re.fullmatch(_INTERVAL, said)
    if not said or re.search(_UNSTORABLE, said) or (length and not 0 < float(length[1]) <= _TEN_YEARS_SECONDS):
        return f"unique_for {said[:80]!r} is not active, waiting, always or an interval of ten years at most"
    return None


def _wrong_time(order: Order, now_at_least: datetime) -> str | None:
    run_at = datetime.fromisoformat(order.run_at) if order.run_at else None
    if run_at is not None and run_at < EARLIEST:
        return f"run_at {order.run_at} is before 2000: is it in the unit you meant?"
    if order.delay_seconds is not None and not -_TEN_YEARS_SECONDS <= order.delay_seconds <= _TEN_YEARS_SECONDS:
        return f"run_at {order.delay_seconds:g} s from now is not within ten years: is it in the unit you meant?"
    if order.expires_at is not None and datetime.fromisoformat(order.expires_at) <= (run_at or now_at_least):
        return f"expires_at {order.expires_at} is not after run_at: the job could never run"
    return None
