"""What a tick lends to its attempts: contexts, one HTTP client, connections, answers about markers."""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
import psycopg

from crontick.jobs.ask_again import AskAgain, item_of
from crontick.jobs.bounds import Bounds
from crontick.jobs.clock import Moment
from crontick.jobs.context import Context
from crontick.jobs.deployment import Deployment
from crontick.jobs.job import Job
from crontick.jobs.kind import Kind
from crontick.jobs.lend import Lender, Lent
from crontick.jobs.link import Link
from crontick.jobs.run import Runner
from crontick.jobs.threads import Threads
from crontick.sql import query
from crontick.sql.wire import Answer, statement

if TYPE_CHECKING:
    import httpx

__all__ = ["TickServices"]


class TickServices:
    """Made for one tick and closed with it; nothing costly is made before a function asks for it."""

    def __init__(self, link: Link, deployment: Deployment, bounds: Bounds, url: str) -> None:
        self.link = link
        self.settings = deployment.config
        self.patience_seconds = min(20.0, bounds.left_for_functions)
        self._deployment = deployment
        self._bounds = bounds
        self._threads = Threads()
        self._lender = Lender(url, deployment.settings.db_connections)
        self._http: httpx.AsyncClient | None = None
        self._wishes: list[tuple[dict[str, Any], asyncio.Future[tuple[str, int | None, float]]]] = []
        self._asking: asyncio.Task[None] | None = None
        self.opened_at = datetime.max.replace(tzinfo=UTC)
        self._again = AskAgain(link, deployment.reminders)
        self.runner = Runner(deployment.around, self._threads, deployment.redact)

    def contexts(self, jobs: Iterable[Job]) -> Iterator[Context]:
        """A context for each job that was just claimed."""
        if not jobs:
            return
        claimed, loop = Moment(), asyncio.get_running_loop()
        lease, left = self._bounds.lease_left, self._bounds.left_for_functions
        for job in jobs:
            kind = self._deployment.kinds[job.kind]
            yield Context(
                job,
                kind,
                self,
                claimed=claimed,
                lease_seconds=lease,
                seconds_allowed=min(kind.timeout_seconds, left),
                loop=loop,
            )

    async def not_wanted(self, job: Job) -> str | None:
        """Why a reminder must not go out any more; None for what is wanted, and for jobs that are no reminders."""
        named = item_of(job)
        if named is None or not self._again.knows(named[0]) or job.created_at >= self.opened_at:
            return None
        reminder, item, meant = named
        now_at = await self._again.item_at(reminder, item)
        if now_at is None:
            return f"{reminder}: the item is gone"
        if now_at != meant:
            return f"{reminder}: the item was moved, and is reminded of at its new time"
        return None

    def http(self) -> "httpx.AsyncClient":
        """The tick's one client, made when first asked for."""
        if self._http is None:
            from crontick.jobs.outbound import client

            self._http = client(self.settings.http)
        return self._http

    def lend(self, ctx: Context) -> Lent:
        """A connection for one attempt."""
        return Lent(self._lender, ctx)

    async def reserve(self, job: Job, kind: Kind[Any], key: str) -> tuple[str, int | None, float]:
        """The marker's state, its holder, the seconds until that holder's lease ends; one trip for all that wait."""
        future: asyncio.Future[tuple[str, int | None, float]] = asyncio.get_running_loop().create_future()
        wish = {"job": job.id, "claim": job.claim, "kind": kind.name, "key": key, "resend": kind.in_doubt == "resend"}
        self._wishes.append((wish, future))
        if self._asking is None:
            self._asking = asyncio.create_task(self._ask())
        return await future

    async def _ask(self) -> None:
        while self._wishes:
            wishes, self._wishes = self._wishes, []
            asked = msgspec.json.encode([wish for wish, _ in wishes]).decode()

            try:
                [answer] = await self.link.tell([[statement(query("reserve_markers"), {"wishes": asked})]])
            except (psycopg.Error, OSError, TimeoutError) as error:
                answer = Answer(
                    [], psycopg.OperationalError(f"the marker could not be asked for: {type(error).__name__}")
                )
            if answer.error is not None:
                for _, future in wishes:
                    if not future.done():
                        future.set_exception(answer.error)
                continue
            said = {(job, key): (state, holder, seconds) for job, key, state, holder, seconds in answer.rows[0]}
            for wish, future in wishes:
                if not future.done():
                    future.set_result(said[wish["job"], wish["key"]])
        self._asking = None

    async def close(self) -> None:
        """Close what was made."""
        if self._http is not None:
            await self._http.aclose()
        await self._lender.close()
        self._threads.close()
