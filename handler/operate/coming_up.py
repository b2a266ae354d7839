"""What reminders would send: their items as the opening of a tick asks for them, with what becomes of each."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import psycopg

from crontick.handler.operate.reads import Connection
from crontick.jobs.kind import Kind
from crontick.jobs.payload import encode_json
from crontick.jobs.remind import ask_for_items
from crontick.jobs.reminders import Item, Reminder, as_moment
from crontick.jobs.secret_fields import shown
from crontick.sql import query
from crontick.sql.wire import trip

ASK_SECONDS: Final = 20.0
Row = dict[str, Any]


async def coming_up(
    conn: Connection, reminders: Sequence[Reminder], kinds: Mapping[str, Kind[Any]]
) -> tuple[list[Row], dict[str, str]]:
    """What each finds, and by its name what each that failed says: one stops no other. Nothing is enqueued."""
    found: list[Row] = []
    failed: dict[str, str] = {}
    for reminder in reminders:
        try:
            items = _generated(conn, reminder) if reminder.items else _queried(conn, reminder)
            found += [_row(reminder, item, now, kinds[reminder.kind]) async for item, now in items]
        except psycopg.Error as error:
            failed[reminder.name] = f"{error.diag.message_primary} ({error.sqlstate})"
        except ValueError as error:
            failed[reminder.name] = str(error)
    return found, failed


async def _queried(conn: Connection, reminder: Reminder) -> AsyncIterator[tuple[Item, datetime]]:
    [answer] = await trip(conn, [ask_for_items(reminder)], timeout_seconds=ASK_SECONDS)
    answer.check()
    for item, item_at, payload, group_key, now in answer.rows[1]:
        yield Item(item=item, item_at=as_moment(item_at), payload=payload or "{}", group_key=group_key), now


async def _generated(conn: Connection, reminder: Reminder) -> AsyncIterator[tuple[Item, datetime]]:
    cursor = await conn.execute(query("read_clock").text.encode())
    [(now, _)] = await cursor.fetchall()
    assert reminder.items is not None  # coming_up asked
    async for item in reminder.items(now, now + reminder.window()):
        yield item, now


def _row(reminder: Reminder, item: Item, now: datetime, kind: Kind[Any]) -> Row:
    due_at = reminder.due_at(item.item_at)
    state = "later" if due_at > now else "too late" if reminder.last_moment(item.item_at) <= now else "due"
    return {
        "reminder": reminder.name,
        "item": item.item,
        "item_at": item.item_at,
        "due_at": due_at,
        "state": state,
        "payload": shown(item.payload if isinstance(item.payload, str) else encode_json(item.payload), kind.secret),
    }
