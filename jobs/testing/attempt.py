"""One attempt of a kind, without a job in the database."""

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from crontick.jobs.clock import Moment
from crontick.jobs.context import Context
from crontick.jobs.deployment import Deployment
from crontick.jobs.job import Job
from crontick.jobs.kind import Kind
from crontick.jobs.outcomes import Outcome, Reservation
from crontick.jobs.run import Runner
from crontick.jobs.seats import Seats
from crontick.jobs.shared import Shared
from crontick.jobs.testing.around import judged
from crontick.jobs.testing.deployed import deployed
from crontick.jobs.testing.place import CallersThread, in_callers_thread
from crontick.jobs.testing.verdicts import Verdicts
from crontick.jobs.threads import SyncSide, Threads
from crontick.jobs.tick_secrets import TickSecrets

if TYPE_CHECKING:
    import httpx

    from crontick.jobs.endpoints import Endpoint

__all__ = ["run", "run_async"]

P = TypeVar("P")
T = TypeVar("T")
_LEASE_SECONDS: Final = 86_400.0


def run(kind: Kind[P], payload: P, attempt: int = 1) -> Outcome:
    """How that attempt ends: one of the outcomes. The kind's timeout holds, and an error is logged with its traceback.

    Nothing is read or written: no marker was set before, children that the function leaves are dropped, ``ctx.db()`` is
    refused. Raises ``PayloadError`` for a payload that does not fit, and ``RuntimeError`` in an async test.
    """
    return in_callers_thread(
        lambda: _attempted(kind, payload, attempt, CallersThread()), instead="await run_async(…) in an async test"
    )


async def run_async(kind: Kind[P], payload: P, attempt: int = 1) -> Outcome:
    """``run`` in the test's own event loop; sync functions run in a thread."""
    return await _attempted(kind, payload, attempt, Threads())


async def _attempted(kind: Kind[Any], payload: object, attempt: int, sync_side: SyncSide) -> Outcome:
    job = _job(kind, payload, attempt)
    deployment = deployed("test", beside=[kind])
    kind = deployment.kinds[kind.name]  # as crontick.toml has it
    lent = _LentAlone(deployment, sync_side)
    verdicts = Verdicts()
    around = partial(judged, inner=deployment.around, sync_side=sync_side, verdicts=verdicts)
    runner = Runner(around, sync_side, deployment.redact)
    seats = Seats(runner, _LEASE_SECONDS)
    ctx = Context(
        job,
        kind,
        lent,
        claimed=Moment(),
        lease_seconds=_LEASE_SECONDS,
        seconds_allowed=kind.timeout_seconds,
        loop=asyncio.get_running_loop(),
    )
    try:
        seats.start([ctx])
        while not (endings := await seats.ended(more=False, trip_seconds=0)):
            pass
    finally:
        await seats.close()
        await lent.close()
    verdicts.tell()
    return endings[0].outcome


def _job(kind: Kind[Any], payload: object, attempt: int) -> Job:
    now = datetime.now(UTC)
    return Job(
        id=0,
        kind=kind.name,
        payload_text=kind.payload.encode(payload),
        attempt=attempt,
        own_max_attempts=None,
        handed_back=0,
        suspect=False,
        queue=kind.queue,
        priority=kind.priority,
        run_at=now,
        created_at=now,
        group_key=None,
        unique_key=None,
        first_job=None,
        marker=None,
        marker_state=None,
        marker_job=None,
        marker_seconds=None,
        marker_hash=None,
        claim=0,
    )


class _LentAlone:
    """What a function may use that has no job: the HTTP client, and markers that nobody holds."""

    def __init__(self, deployment: Deployment, sync_side: SyncSide) -> None:
        self.settings = deployment.config
        self._environment = deployment.settings
        self._sync_side = sync_side
        self._http: httpx.AsyncClient | None = None
        self.secret = TickSecrets(deployment.redact).read
        self._made = Shared()
        self.shared = self._made.get

    def http(self) -> "httpx.AsyncClient":
        if self._http is None:
            from crontick.jobs.outbound import client

            self._http = client(self.settings.http)
        return self._http

    async def endpoint(self, name: str) -> "Endpoint":
        from crontick.jobs.endpoints import configured

        found = configured(self.settings.webhook_endpoint, name, self.secret)
        if found is None:
            raise LookupError(
                f"crontick.toml has no [[webhook_endpoint]] {name}, and run has no database: use drain(conn)"
            )
        return found

    def report_link(self, run: int, lasts: timedelta, *, progress: bool) -> str:
        from crontick.jobs.links import FILE_PATH, PROGRESS_PATH, make_link

        return make_link(self._environment, run, lasts=lasts, to=PROGRESS_PATH if progress else FILE_PATH)

    def lend(self, ctx: Context) -> NoReturn:
        raise RuntimeError(f"run has no database, and {ctx.kind.name} asks for ctx.db(): use drain(conn)")

    async def not_wanted(self, job: Job) -> None:  # noqa: ARG002
        return None

    async def misfit_before(self, job: Job) -> bool:  # noqa: ARG002
        return False

    async def reserve(self, job: Job, kind: Kind[Any], key: str, content_hash: str | None) -> Reservation:  # noqa: ARG002
        return Reservation("reserved")

    def wait(self, coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop) -> T:
        return self._sync_side.wait(coroutine, loop)

    async def close(self) -> None:
        await self._made.close()
        if self._http is not None:
            await self._http.aclose()
        self._sync_side.close()
