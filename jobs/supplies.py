"""What a tick lends to its attempts: contexts, one HTTP client, connections, answers about markers."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from crontick.jobs.ask_again import AskAgain, item_of
from crontick.jobs.bounds import Bounds
from crontick.jobs.clock import Moment
from crontick.jobs.context import Context
from crontick.jobs.deployment import Deployment
from crontick.jobs.job import Job
from crontick.jobs.kind import Kind
from crontick.jobs.lend import Lends, Lent
from crontick.jobs.link import Trips
from crontick.jobs.outcomes import Reservation
from crontick.jobs.run import Runner, Runs
from crontick.jobs.shared import Shared
from crontick.jobs.threads import SyncSide, Threads
from crontick.jobs.tick_secrets import TickSecrets
from crontick.jobs.together import Together
from crontick.sql import query
from crontick.sql.wire import statement

if TYPE_CHECKING:
    import httpx

    from crontick.jobs.endpoints import Endpoint, Endpoints

__all__ = ["TickSupplies"]

T = TypeVar("T")


class TickSupplies:
    """Made for one tick and closed with it; nothing costly is made before a function asks for it."""

    def __init__(
        self, link: Trips, deployment: Deployment, bounds: Bounds, lender: Lends, sync_side: SyncSide | None = None
    ) -> None:
        self.link = link
        self.settings = deployment.config
        self.patience_seconds = min(20.0, bounds.left_for_functions)
        self._deployment = deployment
        self._bounds = bounds
        self._sync_side = sync_side or Threads()
        self._lender = lender
        self._http: httpx.AsyncClient | None = None
        self._secrets = TickSecrets(deployment.redact)
        self._endpoints: Endpoints | None = None
        self._shared = Shared()
        self._markers: Together[dict[str, Any], Reservation] = Together(self._reserve)
        self.opened_at = datetime.max.replace(tzinfo=UTC)
        self._again = AskAgain(link, deployment.reminders)
        self.runner: Runs = Runner(deployment.around, self._sync_side, deployment.redact, deployment.keyring)

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

    async def misfit_before(self, job: Job) -> bool:
        """Whether its last error was a payload that did not fit."""
        [answer] = await self.link.tell([[statement(query("read_misfit"), {"job": job.id})]])
        answer.check()
        return bool(answer.rows[0][0][0])

    def http(self) -> "httpx.AsyncClient":
        """The tick's one client, made when first asked for."""
        if self._http is None:
            from crontick.jobs.outbound import client

            self._http = client(self.settings.http)
        return self._http

    def shared(self, make: Callable[[], T]) -> T:
        """What attempts of this tick share."""
        return self._shared.get(make)

    def secret(self, name: str) -> str:
        """As ``Context.secret``; each is read once a tick."""
        return self._secrets.read(name)

    async def endpoint(self, name: str) -> "Endpoint":
        """As ``Context.endpoint``."""
        if self._endpoints is None:
            from crontick.jobs.endpoints import Endpoints

            self._endpoints = Endpoints(self.link, self._deployment, self.secret)
        return await self._endpoints.find(name)

    def report_link(self, run: int, lasts: timedelta, *, progress: bool) -> str:
        """As ``Context.report_link``."""
        from crontick.jobs.links import FILE_PATH, PROGRESS_PATH, make_link

        return make_link(self._deployment.settings, run, lasts=lasts, to=PROGRESS_PATH if progress else FILE_PATH)

    def lend(self, ctx: Context) -> Lent:
        """A connection for one attempt."""
        return Lent(self._lender, ctx)

    async def reserve(self, job: Job, kind: Kind[Any], key: str, content_hash: str | None) -> Reservation:
        """What the marker is now; one trip for all that wait."""
        wish = {"job": job.id, "claim": job.claim, "kind": kind.name, "key": key, "resend": kind.in_doubt == "resend"}
        return await self._markers.answer(wish if content_hash is None else wish | {"content_hash": content_hash})

    async def _reserve(self, wishes: list[dict[str, Any]]) -> list[Reservation | Exception]:
        asked = msgspec.json.encode(wishes).decode()
        [answer] = await self.link.tell([[statement(query("reserve_markers"), {"wishes": asked})]])
        answer.check()
        said = {(job, key): Reservation(*told) for job, key, *told in answer.rows[0]}
        return [said[wish["job"], wish["key"]] for wish in wishes]

    def wait(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
        """For sync functions, where they run: what the tick's loop answers."""
        return self._sync_side.wait(coroutine, loop)

    async def close(self) -> None:
        """Close what was made."""
        await self._shared.close()
        if self._http is not None:
            await self._http.aclose()
        await self._lender.close()
        self._sync_side.close()
