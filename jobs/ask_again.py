"""Just before a late send, a reminder's item is asked for again: gone is cancelled, moved is left to its new time."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from crontick.jobs.job import Job
from crontick.jobs.link import Trips
from crontick.jobs.reminders import SECONDS_PER_QUERY, Reminder, as_moment
from crontick.jobs.together import Together
from crontick.sql import query
from crontick.sql.wire import Answer, Segment, encoded, statement

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

    def __init__(self, link: Trips, reminders: Sequence[Reminder]) -> None:
        self._link = link
        self._reminders = {reminder.name: reminder for reminder in reminders if reminder.query is not None}
        self._together: Together[tuple[str, str], datetime | None] = Together(self._ask)

    def knows(self, reminder: str) -> bool:
        """Whether that reminder has a query to ask."""
        return reminder in self._reminders

    async def item_at(self, reminder: str, item: str) -> datetime | None:
        """When the item is now; None when it is gone. Raises what the query raised."""
        return await self._together.answer((reminder, item))

    async def _ask(self, wishes: list[tuple[str, str]]) -> list[datetime | Exception | None]:
        names = sorted({name for name, _ in wishes})
        segments = [self._segment(name, sorted({i for n, i in wishes if n == name})) for name in names]
        answers = dict(zip(names, map(_moments, await self._link.tell(segments, ours=0)), strict=True))
        found: list[datetime | Exception | None] = []
        for name, item in wishes:
            said = answers[name]
            found.append(said if isinstance(said, Exception) else said.get(item))
        return found

    def _segment(self, name: str, items: list[str]) -> Segment:
        reminder = self._reminders[name]
        bound = statement(query("bound_reminder"), {"statement_timeout_ms": str(int(SECONDS_PER_QUERY * 1000))})
        text = query("list_wanted_items").wire.replace(
            b"    select * from user_query", reminder.numbered_query().encode(), 1
        )
        return [bound, (text, [encoded(reminder.window().total_seconds()), encoded(items)])]


def _moments(answer: Answer) -> dict[str, datetime] | Exception:
    if answer.error is not None:
        return answer.error
    try:
        return {row[0]: as_moment(row[1]) for row in answer.rows[1]}
    except ValueError as error:
        return error
