"""What reminders would send."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Annotated, Any, Final

import psycopg
import typer

from crontick.handler.cli.database import naming, settings
from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import Row, complain, readable, say_json, table
from crontick.jobs.connect import connect
from crontick.jobs.deployment import load_deployment
from crontick.jobs.kind import Kind
from crontick.jobs.payload import encode_json
from crontick.jobs.remind import ask_for_items
from crontick.jobs.reminders import Item, Reminder, as_moment
from crontick.jobs.secret_fields import shown
from crontick.sql import query
from crontick.sql.wire import trip

app: Final = typer.Typer(help="What comes up, and whom it concerns.", no_args_is_help=True)
COLUMNS: Final = ("reminder", "item", "item_at", "due_at", "state", "payload")
CONNECT_SECONDS: Final = 20.0


@app.callback()
def _group() -> None:
    """A callback keeps `preview` a subcommand while it is the only one."""


@app.command()
def preview(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these reminders.")] = None,
    json: Json = False,
) -> None:
    """Ask each reminder for its items, and show which are due now and which come later; nothing is enqueued."""
    deployment = load_deployment(settings())
    known = {reminder.name: reminder for reminder in deployment.reminders}
    for name in names or []:
        if name not in known:
            raise typer.BadParameter(f"there is no reminder {name}; there are: {', '.join(known) or 'none'}")
    asked = [known[name] for name in names] if names else list(known.values())
    url = deployment.settings.database_url
    assert url is not None  # settings() refused that
    with naming(url):
        found, failed = asyncio.run(previewed(url, asked, deployment.kinds))
    if json:
        say_json([{**item, "payload": readable(item["payload"])} for item in found])
    else:
        table(found, COLUMNS, as_json=False, nothing="nothing comes up")
    for name, said in failed.items():
        complain(f"reminder {name}: {said}")
    if failed:
        raise typer.Exit(1)


async def previewed(
    url: str, reminders: list[Reminder], kinds: Mapping[str, Kind[Any]]
) -> tuple[list[Row], dict[str, str]]:
    """What each finds, and by its name what each that failed says: one stops no other."""
    found: list[Row] = []
    failed: dict[str, str] = {}
    async with await connect(url, timeout_seconds=CONNECT_SECONDS) as conn:
        for reminder in reminders:
            try:
                items = _generated(conn, reminder) if reminder.items else _queried(conn, reminder)
                found += [_row(reminder, item, now, kinds[reminder.kind]) async for item, now in items]
            except psycopg.Error as error:
                failed[reminder.name] = f"{error.diag.message_primary} ({error.sqlstate})"
            except ValueError as error:
                failed[reminder.name] = str(error)
    return found, failed


async def _queried(conn: psycopg.AsyncConnection[Any], reminder: Reminder) -> AsyncIterator[tuple[Item, datetime]]:
    """The items of a query, asked for as the opening of a tick asks for them."""
    [answer] = await trip(conn, [ask_for_items(reminder)], timeout_seconds=CONNECT_SECONDS)
    if answer.error is not None:
        raise answer.error
    for item, item_at, payload, group_key, now in answer.rows[1]:
        yield Item(item=item, item_at=as_moment(item_at), payload=payload or "{}", group_key=group_key), now


async def _generated(conn: psycopg.AsyncConnection[Any], reminder: Reminder) -> AsyncIterator[tuple[Item, datetime]]:
    cursor = await conn.execute(query("read_clock").text.encode())
    [(now, _)] = await cursor.fetchall()
    assert reminder.items is not None  # previewed asked
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
