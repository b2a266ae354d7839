"""What the opening of a tick found due beside jobs, until the first exchange has written it down: slots, reminders."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

import msgspec

from crontick.jobs.batch import Opened
from crontick.jobs.remind import ComingUp, coming_up
from crontick.jobs.reminders import Reminder
from crontick.sql import query
from crontick.sql.wire import Answer, Statement, statement

__all__ = ["Findings"]


class Findings:
    """Of one tick, by the number of its opening; nothing until ``read``. True while something is to be written."""

    def __init__(self, opening: int) -> None:
        self._opening = opening
        self._slots: str | None = None
        self._coming = ComingUp()
        self._opened_at = datetime.now(UTC)

    def __bool__(self) -> bool:
        return bool(self._coming.found or self._slots)

    @property
    def more(self) -> bool:
        """Whether others are due that this tick leaves to the next."""
        return self._coming.more

    @property
    def next_at(self) -> datetime | None:
        """When the next item of a reminder is due; None where none is known."""
        return self._coming.next_at

    async def read(
        self,
        opened: Opened,
        slots: str | None,
        reminders: Iterable[Reminder],
        asked: Sequence[tuple[Reminder, Answer]],
    ) -> None:
        """Keep what was found; a reminder that could not be asked is told in the warnings of ``opened``."""
        self._coming = await coming_up(reminders, asked, opened.opened_at, opened.warnings)
        self._slots, self._opened_at = slots, opened.opened_at

    def firing(self) -> list[Statement]:
        """Slots; they go before a sync, which may put other schedules in force."""
        if self._slots is None:
            return []
        from crontick.jobs.fire import firing, read_due

        fires, left = firing(self._opening, read_due(self._slots), self._opened_at)
        self._coming.more = self._coming.more or left
        return [fires]

    def reminding(self) -> list[Statement]:
        """Items of reminders."""
        if not self._coming.found:
            return []
        items = msgspec.json.encode([found.row for found in self._coming.found]).decode()
        return [statement(query("enqueue_reminders"), {"opening": self._opening, "items": items})]

    def written(self) -> None:
        """The exchange that had them in it was answered."""
        self._slots, self._coming.found = None, []
