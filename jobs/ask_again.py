"""Just before a late send, a reminder's item is asked for again: gone is cancelled, moved is left to its new time."""

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

import psycopg

from crontick.jobs.job import Job
from crontick.jobs.link import Link
from crontick.jobs.reminders import SECONDS_PER_QUERY, Reminder, as_moment
from crontick.sql import query
from crontick.sql.wire import Segment, encoded, statement

__all__ = ["AskAgain", "item_of"]


def item_of(job: Job) -> tuple[str, str, datetime] | None:
    """The reminder, the item and its moment that a job was enqueued for, by its unique key; None for other jobs."""
    if job.unique_key is None or not job.unique_key.startswith(_PREFIX):
        return None
    reminder, _, rest = job.unique_key.removeprefix(_PREFIX).partition("\n")
    item, _, moment = rest.rpartition("\n")
    return reminder, item, datetime.fromisoformat(moment)


_PREFIX: Final = "reminder\n"


class AskAgain:
    """One trip for all reminder jobs of a wave."""

    def __init__(self, link: Link, reminders: Sequence[Reminder]) -> None:
        self._link = link
        self._reminders = {reminder.name: reminder for reminder in reminders if reminder.query is not None}
        self._wishes: list[tuple[str, str, asyncio.Future[datetime | None]]] = []
        self._asking: asyncio.Task[None] | None = None

    def knows(self, reminder: str) -> bool:
        """Whether that reminder has a query to ask."""
        return reminder in self._reminders

    async def item_at(self, reminder: str, item: str) -> datetime | None:
        """When the item is now; None when it is gone. Raises what the query raised."""
        future: asyncio.Future[datetime | None] = asyncio.get_running_loop().create_future()
        self._wishes.append((reminder, item, future))
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        return await future

    async def _ask(self) -> None:
        while self._wishes:
            wishes, self._wishes = self._wishes, []
            names = sorted({name for name, _, _ in wishes})
            segments = [self._segment(name, sorted({i for n, i, _ in wishes if n == name})) for name in names]
            answers: dict[str, Any] = {}
            try:
                for name, answer in zip(names, await self._link.tell(segments, ours=0), strict=True):
                    answers[name] = answer.error or {row[0]: as_moment(row[1]) for row in answer.rows[1]}
            except (psycopg.Error, OSError, TimeoutError, ValueError) as error:  # whoever asked must hear it
                answers = dict.fromkeys(names, error)
            for name, item, future in wishes:
                said = answers[name]
                if future.done():
                    continue
                if isinstance(said, Exception):
                    future.set_exception(said)
                else:
                    future.set_result(said.get(item))
        self._asking = None

    def _segment(self, name: str, items: list[str]) -> Segment:
        reminder = self._reminders[name]
        bound = statement(query("bound_reminder"), {"statement_timeout_ms": str(int(SECONDS_PER_QUERY * 1000))})
        text = query("list_wanted_items").wire.replace(
            b"    select * from user_query", reminder.numbered_query().encode(), 1
        )
        return [bound, (text, [encoded(reminder.window().total_seconds()), encoded(items)])]
