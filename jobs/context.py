"""What a function is given beside its payload."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from crontick.jobs.clock import Moment
from crontick.jobs.enqueue import enqueue
from crontick.jobs.job import Job
from crontick.jobs.once import Once
from crontick.jobs.outcomes import Cut, Mark, Reservation, Target
from crontick.jobs.signals import LeaseLost
from crontick.sql import query

if TYPE_CHECKING:
    import httpx

    from crontick.jobs.config import Config
    from crontick.jobs.endpoints import Endpoint
    from crontick.jobs.kind import Kind
    from crontick.jobs.lend import Lent
    from crontick.jobs.scheduled import Scheduled
    from crontick.jobs.supplying import Supplies

__all__ = ["Context"]

T = TypeVar("T")


class Context:
    """One attempt: its job, its deadline, and the doors it may use while its lease holds."""

    __slots__ = (
        "_claimed",
        "_closed",
        "cancel_requested",
        "children",
        "claim_told",
        "completing",
        "cut",
        "hides",
        "job",
        "kind",
        "lease_seconds",
        "loop",
        "marks",
        "progress_made",
        "schedule",
        "seconds_allowed",
        "supplies",
        "target",
        "took_seconds",
        "trace",
    )

    def __init__(  # noqa: PLR0913 (made in one place, and each is one fact of the attempt)
        self,
        job: Job,
        kind: "Kind[Any]",
        supplies: "Supplies",
        *,
        claimed: Moment,
        lease_seconds: float,
        seconds_allowed: float,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self.job = job
        self.kind = kind
        self.supplies = supplies
        self._claimed = claimed
        self._closed = False
        self.lease_seconds = lease_seconds
        self.seconds_allowed = seconds_allowed
        self.loop = loop
        self.cut: Cut | None = None
        self.marks: dict[str, Mark | None] = {}
        self.cancel_requested = False
        self.claim_told = False
        self.completing = False
        self.children: list[dict[str, Any]] = []
        self.progress_made: tuple[int, int | None] | None = None
        self.target: Target | None = None
        """How it found what it calls: "ok" or "failed", where its end would not say so by itself."""
        self.took_seconds = 0.0
        """From the claim to the end; 0 while it runs."""
        self.trace = ""
        """Where in the code what it raised arose; for the log."""
        self.schedule: Scheduled | None = None
        """The slot that the job was enqueued for; None for a job of no schedule."""
        self.hides: Callable[[str], str] = str
        """Takes the job's secret fields out of a text; ``str`` where it has none."""

    @property
    def attempt(self) -> int:
        """This attempt's number, from 1."""
        return self.job.attempt

    @property
    def seconds_left(self) -> float:
        """Until this attempt is cut off."""
        return self.seconds_allowed - self._claimed.elapsed_seconds()

    def stop_clock(self) -> None:
        """It has ended: how long it took is known."""
        self.took_seconds = self._claimed.elapsed_seconds()

    @property
    def lease_left(self) -> float:
        """Seconds until somebody else may have this job."""
        return self.lease_seconds - self._claimed.elapsed_seconds()

    @property
    def deadline(self) -> datetime:
        """When this attempt is cut off."""
        return datetime.now(UTC) + timedelta(seconds=self.seconds_left)

    @property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger that names the job, and keeps its secret fields to itself."""
        logger = logging.getLogger(f"crontick.kinds.{self.kind.name}")
        extra = {"job": self.job.id, "attempt": self.attempt}
        if self.hides is str:
            return logging.LoggerAdapter(logger, extra)
        from crontick.jobs.hiding import Hiding

        return Hiding(logger, extra, self.hides)

    @property
    def settings(self) -> "Config":
        """The deployment's ``crontick.toml``."""
        return self.supplies.settings

    @property
    def http(self) -> "httpx.AsyncClient":
        """The tick's shared client, behind the outbound filter; made when first touched."""
        self.check_lease()
        return self.supplies.http()

    def tell_claim(self) -> int:
        """The claim, to be handed to whoever may end this job in his own transaction: ``crontick.complete(id, claim)``.

        What he committed counts, however this attempt ends (P8).
        """
        self.claim_told = True
        return self.job.claim

    def shared(self, make: Callable[[], T]) -> T:
        """What ``make()`` returns, made once a tick and shared by its attempts: a connection, a client with a pool.

        Its ``aclose`` or ``close`` is called when the tick ends.
        """
        self.check_lease()
        return self.supplies.shared(make)

    def db(self) -> "Lent":
        """A connection lent to this attempt: ``async with ctx.db() as conn`` (``with`` in a sync function).

        At most ``CRONTICK_DB_CONNECTIONS`` are open in a tick. What is not committed when it is left is rolled back.
        """
        self.check_lease()
        return self.supplies.lend(self)

    def once(self, key: str | None = None, *, content: bytes | None = None) -> Once:
        """A marker: what is inside happens once for this kind and key (default: the claim's marker, or the lineage).

        ``content`` is what will be sent, for a provider that takes idempotency keys: ``mark.idempotency_key``.
        """
        return Once(self, key, content)

    def complete(self, conn: Any, result: object = None) -> Any:
        """Mark this job succeeded inside the transaction that is open on ``conn``: both commit, or neither (P8).

        From here on only that transaction decides. Raises a database error (CT410) when the lease was lost. An
        awaitable on an async connection.
        """
        from crontick.jobs.on_connection import execute

        self.check_lease()
        self.completing = True
        text = None if result is None else self.result_text(result)
        values = {"id": self.job.id, "claim": self.job.claim, "result": text}
        return execute(conn, query("complete_job"), values, lambda _rows: None)

    def result_text(self, result: object) -> str:
        """As the job keeps it: JSON without its secret fields, 64 KiB at most. Raises ``PayloadError``."""
        from crontick.jobs.result import stored

        return stored(result, None if self.hides is str else self.hides)

    def enqueue(self, kind: "Kind[Any]", payload: object, *, conn: Any = None, **options: Any) -> Any:
        """Enqueue a child. Without a connection it is written by the settle that records this job's success (P9).

        Raises ``ValueError`` for an option that ``crontick.enqueue`` would refuse.
        """
        self.check_lease()
        order = kind.order(payload, **options)
        if conn is not None:
            return enqueue(conn, order)
        from crontick.jobs.children import child_of

        self.children.append(child_of(order, self.job.created_at))
        return None

    def progress(self, done: int, total: int | None = None) -> None:
        """How far it is; written with the next exchange. Raises ``ValueError`` for more than a bigint holds."""
        self.check_lease()
        told = (int(done), None if total is None else int(total))
        for number in told:
            if number is not None and not -(2**63) <= number < 2**63:
                raise ValueError("progress takes whole numbers from -2^63 to 2^63 - 1: count in a larger unit")
        self.progress_made = told

    def secret(self, name: str) -> str:
        """The secret that the configuration names (``…_env``), also by ``…_FROM``. Raises ``LookupError`` naming it."""
        return self.supplies.secret(name)

    async def endpoint(self, name: str) -> "Endpoint":
        """The receiver of that name, its URL and secrets: of ``[[webhook_endpoint]]`` or ``crontick.set_endpoint``.

        Raises ``LookupError`` with a sentence where there is none, or a secret of it cannot be had.
        """
        return await self.supplies.endpoint(name)

    def report_link(self, run: int, *, lasts: timedelta = timedelta(days=7), progress: bool = False) -> str:
        """A signed link to that run's file, to be mailed for example; it opens once the run has succeeded.

        With ``progress`` it is one to how far the run is, and opens no file. Raises ``LinkError`` where
        ``CRONTICK_PUBLIC_URL`` or ``CRONTICK_SIGNING_SECRET`` is not set, and for more than seven days.
        """
        return self.supplies.report_link(run, lasts, progress=progress)

    def reserve(self, key: str, content_hash: str | None = None) -> Coroutine[Any, Any, Reservation]:
        """Ask for a marker on the tick's connection, and note what is to be sent; one trip for all calls that wait."""
        return self.supplies.reserve(self.job, self.kind, key, content_hash)

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """For sync functions, which block meanwhile: what the tick's loop answers."""
        return self.supplies.wait(coroutine, self.loop)

    def check_lease(self) -> None:
        """Raises ``LeaseLost`` when this attempt may not act any more: it was cut off, or its process slept."""
        if self._closed or self._claimed.elapsed_seconds() >= self.lease_seconds:
            raise LeaseLost(f"job {self.job.id}: its lease is over, someone else may have it")

    def close(self) -> None:
        """The engine has written this attempt off: every door raises ``LeaseLost`` from now on (P7)."""
        self._closed = True
