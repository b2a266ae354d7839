"""What the opening asks of each reminder, and which of the items that came back are due, too late, or still to come."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from crontick.jobs.deployment import Deployment
from crontick.jobs.reminders import ITEMS_PER_TICK, SECONDS_PER_QUERY, Reminder, as_moment
from crontick.sql import query
from crontick.sql.wire import Answer, Segment, statement

__all__ = ["Found", "ask_for_items", "found_items"]


@dataclass(frozen=True, slots=True)
class Found:
    """One item that needs a job (or, too late, a record), as ``enqueue_reminders`` takes it."""

    row: dict[str, Any]


def ask_for_items(reminder: Reminder) -> Segment:
    """A segment of its own: a query that is wrong, fails or sleeps hurts nobody else."""
    bound = statement(query("bound_reminder"), {"statement_timeout_ms": str(int(SECONDS_PER_QUERY * 1000))})
    text = query("list_reminder_items").wire.replace(b"/*query*/", reminder.numbered_query().encode(), 1)
    now = datetime.now(UTC)
    return [
        bound,
        (
            text,
            [
                now.isoformat().encode(),
                (now + reminder.window()).isoformat().encode(),
                reminder.name.encode(),
                str(ITEMS_PER_TICK + 1).encode(),
            ],
        ),
    ]


async def found_items(
    deployment: Deployment, reminders: Sequence[Reminder], answers: Sequence[Answer], warnings: list[str]
) -> list[Found]:
    """What is to be enqueued; a reminder that went wrong is a warning, and stops no other."""
    found: list[Found] = []
    for reminder, answer in zip(reminders, answers, strict=True):
        if answer.error is not None:
            warnings.append(f"reminder {reminder.name}: its query failed (SQLSTATE {answer.error.sqlstate})")
            continue
        try:
            found += _due(deployment, reminder, answer.rows[1])
        except ValueError as error:
            warnings.append(f"reminder {reminder.name}: {error}")
    return found


def _due(deployment: Deployment, reminder: Reminder, rows: list[tuple[Any, ...]]) -> list[Found]:
    found = []
    for item, item_at, payload, group_key, now in rows[:ITEMS_PER_TICK]:
        moment = as_moment(item_at)
        if reminder.due_at(moment) > now:
            continue
        found.append(Found(_row(reminder, item, moment, now, payload, group_key)))
    return found


def _row(
    reminder: Reminder, item: str, moment: datetime, now: datetime, payload: str, group_key: str | None
) -> dict[str, Any]:
    last = reminder.last_moment(moment)
    return {
        "reminder": reminder.name,
        "item": item,
        "item_at": moment.isoformat(),
        "kind": reminder.kind,
        "payload": msgspec.Raw((payload or "{}").encode()),
        "queue": reminder.queue,
        "priority": reminder.priority,
        "group_key": group_key,
        "expires_at": max(last, now + timedelta(seconds=1)).isoformat(),
        "late": last <= now,
    }
