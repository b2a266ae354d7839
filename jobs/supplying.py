"""What a tick lends to its attempts, as an attempt sees it: for type checkers alone, no tick imports this."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any, Protocol, TypeVar

import httpx

from crontick.jobs.context import Context
from crontick.jobs.endpoints import Endpoint
from crontick.jobs.job import Job
from crontick.jobs.kind import Kind
from crontick.jobs.lend import Lent
from crontick.jobs.outcomes import Reservation
from crontick.jobs.sections import Config

__all__ = ["Supplies"]

T = TypeVar("T")


class Supplies(Protocol):
    """What the tick lends to its attempts."""

    settings: Config

    def http(self) -> httpx.AsyncClient:
        """The tick's one client."""
        ...

    def shared(self, make: Callable[[], T]) -> T:
        """The tick's one object of that make."""
        ...

    def secret(self, name: str) -> str:
        """The value of a secret, the same for the whole tick."""
        ...

    async def endpoint(self, name: str) -> Endpoint:
        """The endpoint of that name."""
        ...

    def report_link(self, run: int, lasts: timedelta, *, progress: bool) -> str:
        """A signed link to a run's file, or to how far it is."""
        ...

    def lend(self, ctx: Context) -> Lent:
        """A connection for that attempt."""
        ...

    async def not_wanted(self, job: Job) -> str | None:
        """Why a reminder must not go out any more."""
        ...

    async def misfit_before(self, job: Job) -> bool:
        """Whether its last error was a payload that did not fit."""
        ...

    async def reserve(self, job: Job, kind: Kind[Any], key: str, content_hash: str | None) -> Reservation:
        """What a marker is now; reserved for that attempt where it was free."""
        ...

    def wait(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
        """For sync functions: what the tick's loop answers."""
        ...
