"""What the opening asks of each reminder, and which of the items that came back are due, too late, or still to come."""

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from crontick.jobs.payload import PayloadError, encode_json
from crontick.jobs.reminders import ITEMS_PER_TICK, SECONDS_PER_QUERY, Item, Reminder, as_moment
from crontick.sql import query
from crontick.sql.wire import Answer, Segment, encoded, statement

__all__ = ["ComingUp", "Found", "ask_for_items", "coming_up"]

_GENERATED_AT_MOST: Final = 1000
_SECONDS_FOR_ALL: Final = 6.0
"""For the queries of all reminders: well within what one trip may take."""
_ASKED_AGAIN_AFTER: Final = timedelta(minutes=15)
"""Where a reminder could not say what comes up: told as ``more`` it would call ticks without end, untold none."""


class Found(msgspec.Struct, frozen=True):
    """One item that needs a job (or, too late, a record), as ``enqueue_reminders`` takes it."""

    row: dict[str, Any]


class ComingUp(msgspec.Struct):
    """All that the reminders found: what is due, whether there is more of it, and when the next item is."""

    found: list[Found] = []
    more: bool = False
    next_at: datetime | None = None

    def look_at(self, moment: datetime) -> None:
        """A tick is needed then, at the latest."""
        self.next_at = min(self.next_at or moment, moment)

    def add(self, reminder: Reminder, item: Item, now: datetime) -> None:
        """Sort one item by its time."""
        due_at = reminder.due_at(item.item_at)
        if due_at > now:
            self.look_at(due_at)
            return
        last = reminder.last_moment(item.item_at)
        self.found.append(
            Found(
                {
                    "reminder": reminder.name,
                    "item": item.item,
                    "item_at": item.item_at.isoformat(),
                    "kind": reminder.kind,
                    "payload": msgspec.Raw(item.payload.encode()),
                    "queue": reminder.queue,
                    "priority": reminder.priority,
                    "group_key": item.group_key,
                    "expires_at": max(last, now + timedelta(seconds=1)).isoformat(),
                    "late": last <= now,
                }
            )
        )


def ask_for_items(reminder: Reminder, *, among: int = 1) -> Segment:
    """A segment of its own: a query that is wrong, fails or sleeps hurts nobody; ``among`` many it has less time."""
    seconds = min(SECONDS_PER_QUERY, _SECONDS_FOR_ALL / among)
    bound = statement(query("bound_reminder"), {"statement_timeout_ms": str(int(seconds * 1000))})
    text = query("list_reminder_items").wire.replace(
        b"    select * from user_query", reminder.numbered_query().encode(), 1
    )
    values = (reminder.window().total_seconds(), reminder.name, ITEMS_PER_TICK + 1)
    return [bound, (text, [encoded(value) for value in values])]


async def coming_up(
    reminders: Iterable[Reminder], asked: Sequence[tuple[Reminder, Answer]], opened_at: datetime, warnings: list[str]
) -> ComingUp:
    """What is to be enqueued; a reminder that goes wrong is a warning, is asked again, and stops no other."""
    coming, warned = ComingUp(), len(warnings)
    for reminder, answer in asked:
        if answer.error is not None:
            failed = f"its query failed (SQLSTATE {answer.error.sqlstate})"
            warnings.append(
                f"reminder {reminder.name}: {failed}: `crontick reminders preview {reminder.name}` says more"
            )
            continue
        rows = answer.rows[1]
        try:
            items = [(_item(row), row[4]) for row in rows]
        except ValueError as error:
            warnings.append(f"reminder {reminder.name}: {error}")
            continue
        for item, now in items[:ITEMS_PER_TICK]:
            coming.add(reminder, item, now)
        if len(items) > ITEMS_PER_TICK and reminder.due_at(items[-1][0].item_at) <= items[-1][1]:
            coming.more = True
    for reminder in reminders:
        if reminder.items is not None:
            await _generated(reminder, coming, opened_at, warnings)
    if len(warnings) > warned:
        coming.look_at(opened_at + _ASKED_AGAIN_AFTER)
    return coming


def _item(row: tuple[Any, ...]) -> Item:
    return Item(item=row[0], item_at=as_moment(row[1]), payload=row[2] or "{}", group_key=row[3])


async def _generated(reminder: Reminder, coming: ComingUp, now: datetime, warnings: list[str]) -> None:
    """Items of an async generator; the statement that enqueues them leaves out those that have a record already."""
    assert reminder.items is not None
    try:
        async with asyncio.timeout(SECONDS_PER_QUERY):
            count = 0
            async for item in reminder.items(now, now + reminder.window()):
                payload = item.payload if isinstance(item.payload, str) else encode_json(item.payload)
                moment = as_moment(item.item_at)
                coming.add(
                    reminder, Item(item=item.item, item_at=moment, payload=payload, group_key=item.group_key), now
                )
                count += 1
                if count >= _GENERATED_AT_MOST:
                    coming.more = True
                    break
    except TimeoutError:
        warnings.append(f"reminder {reminder.name}: its generator did not end within {SECONDS_PER_QUERY:g} s")
    except (PayloadError, ValueError) as error:
        warnings.append(f"reminder {reminder.name}: {error}")
    except Exception as error:  # noqa: BLE001 (a user's generator may raise anything; the other reminders go on)
        warnings.append(f"reminder {reminder.name}: its generator failed ({type(error).__name__})")
