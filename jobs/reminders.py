"""Reminders: a definition that finds items coming up, and the query that asks for them in the opening."""

import re
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import msgspec

if TYPE_CHECKING:
    from crontick.jobs.sections import ReminderSettings

__all__ = ["ITEMS_PER_TICK", "SECONDS_PER_QUERY", "Item", "Reminder", "reminder"]

ITEMS_PER_TICK: Final = 100
SECONDS_PER_QUERY: Final = 2.0
_LOOK_AHEAD: Final = timedelta(days=1)
"""Beyond the lead, so that the next item's time is known."""
_FROM: Final = "crontick.now()"
_TO: Final = "(crontick.now() + make_interval(secs => $1::float8))"
_PARAMETER: Final = r"(?<![:\w]):(from|to)\b"

Items = Callable[[datetime, datetime], AsyncIterator["Item"]]


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """Something coming up. ``payload`` is that of the reminder's kind, as JSON can hold it."""

    item: str
    item_at: datetime
    payload: Any
    group_key: str | None = None


class Reminder(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Due at the item's moment less ``lead``; sent late until that plus ``late``, never after the item's moment."""

    name: str
    kind: str
    lead: timedelta
    late: timedelta
    query: str | None = None
    items: Items | None = None
    queue: str | None = None
    priority: int = 10

    @classmethod
    def from_settings(cls, said: "ReminderSettings") -> "Reminder":
        """The reminder that a ``[[reminder]]`` describes."""
        return cls(
            name=said.name,
            kind=said.kind,
            lead=said.lead,
            late=said.lead if said.late is None else said.late,
            query=said.query,
            queue=said.queue,
            priority=said.priority,
        )

    def due_at(self, item_at: datetime) -> datetime:
        """When it is to be sent."""
        return item_at - self.lead

    def last_moment(self, item_at: datetime) -> datetime:
        """When it is too late to send."""
        return min(item_at, self.due_at(item_at) + self.late)

    def window(self) -> timedelta:
        """From now to the last item worth knowing."""
        return self.lead + _LOOK_AHEAD

    def numbered_query(self) -> str:
        """The user's query with the database's now for ``:from``, and for ``:to`` the window beyond it, ``$1`` seconds.

        Literals, quoted names, comments and casts are left as they are.
        """
        # Imported here: a tick whose deployment reminds of nothing does not pay for it.
        from crontick.jobs.placeholders import outside_literals

        if self.query is None:
            raise ValueError(f"reminder {self.name} has no query, it is a generator")
        return outside_literals(self.query, _numbered).rstrip().rstrip(";")


def _numbered(text: str) -> str:
    return re.sub(_PARAMETER, lambda match: _FROM if match[1] == "from" else _TO, text)


def reminder(
    name: str,
    *,
    kind: str,
    lead: timedelta,
    late: timedelta | None = None,
    queue: str | None = None,
    priority: int = 10,
) -> Callable[[Items], Reminder]:
    """Make an async generator ``(from, to) -> Item, …`` a reminder; like ``@kind`` it registers nothing."""
    if lead <= timedelta(0):
        raise ValueError(f"reminder {name}: lead must be longer than nothing")

    def decorate(items: Items) -> Reminder:
        return Reminder(
            name=name,
            kind=kind,
            lead=lead,
            late=lead if late is None else late,
            items=items,
            queue=queue,
            priority=priority,
        )

    return decorate


def as_moment(value: object) -> datetime:
    """A query's ``item_at``: it must be a timestamptz, for nobody knows which moment one without a zone means."""
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise ValueError("item_at must be a timestamptz: convert it with `at time zone 'Europe/Berlin'`")
    return value.astimezone(UTC)
