"""A reminder of the made-up company, for the one test that asks for its items."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta

from crontick.jobs import Item, reminder


@reminder("generated", kind="greet", lead=timedelta(hours=1))
async def generated(begin: datetime, _: datetime) -> AsyncIterator[Item]:
    """One item that is due, and one that is not yet."""
    yield Item(item="soon", item_at=begin + timedelta(minutes=30), payload={"name": "Ada"})
    yield Item(item="later", item_at=begin + timedelta(hours=3), payload={"name": "Bob"})
