"""The hash by which the database knows a deployment: of all that it declares."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from crontick.jobs.kind import Kind
from crontick.jobs.sections import Config
from crontick.sql import VERSION

if TYPE_CHECKING:
    from crontick.jobs.reminders import Reminder
    from crontick.jobs.schedules import Schedule

__all__ = ["deployment_hash"]


def deployment_hash(
    kinds: Mapping[str, Kind[Any]], reminders: "Iterable[Reminder]", schedules: "Iterable[Schedule]", config: Config
) -> str:
    """The same for the same version, kinds, reminders, schedules and configuration, in whichever process."""
    told = [
        VERSION,
        [
            [
                k.name,
                k.queue,
                k.priority,
                k.max_attempts,
                k.timeout_seconds,
                k.needs_seconds,
                repr(k.backoff),
                k.marker,
                k.in_doubt,
                k.window_seconds,
                sorted(k.secret),
                k.on_failure,
                k.breaker,
            ]
            for _, k in sorted(kinds.items())
        ],
        sorted(reminder.name for reminder in reminders),
        [schedule.told() for schedule in schedules],
        msgspec.json.encode(config, enc_hook=_plain).decode(),
    ]
    return hashlib.sha256(msgspec.json.encode(told)).hexdigest()[:32]


def _plain(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    return repr(value)
