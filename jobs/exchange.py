"""The three trips of a tick: open, exchange, close; what is sent, and what the answers mean."""

import asyncio
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain, starmap
from typing import TYPE_CHECKING, Any, Final

import psycopg

from crontick.jobs.batch import Batch, Opened
from crontick.jobs.bounds import Bounds
from crontick.jobs.caller import Caller
from crontick.jobs.claiming import Claiming
from crontick.jobs.clock import Moment
from crontick.jobs.deployment import Deployment
from crontick.jobs.ending import Ending, logged
from crontick.jobs.findings import Findings
from crontick.jobs.job import Job
from crontick.jobs.link import Trips
from crontick.jobs.opening import knowing_kinds, opening_tick
from crontick.jobs.remind import ask_for_items
from crontick.jobs.request import TickRequest
from crontick.jobs.seats import Seats
from crontick.jobs.settling import settling
from crontick.sql import query
from crontick.sql.wire import Parts, Segment, statement

if TYPE_CHECKING:
    from crontick.jobs.fan_out import FanOut
    from crontick.jobs.tally import Tally
    from crontick.jobs.unsealed import Unsealed

__all__ = ["Exchanges"]

_BOUND: Final = statement(query("bound_segment"), {"statement_timeout_ms": "10000"})
_PAUSE_SECONDS: Final = (0.01, 0.3)
"""What is held by somebody's transaction is asked for again after a pause, from the shorter to the longer."""


class Exchanges:
    """One tick's conversation with the database. Numbers are drawn here, so that a repeat is recognised (P1)."""

    def __init__(self, link: Trips, deployment: Deployment, bounds: Bounds, request: TickRequest) -> None:
        self._link = link
        self._deployment = deployment
        self._bounds = bounds
        self._request = request
        self.opening = secrets.randbits(63)
        """The number of this tick's opening."""
        self._claiming = Claiming(self.opening, deployment, bounds, request)
        self._known_deployment = True
        self.tick: int | None = None
        """The tick's id, once its row is there."""
        self.unsettled: list[Ending] = []
        self.tally: Tally | None = None
        """Of the attempts that ended; None where none has."""
        self.alert_messages: str | None = None
        """What the closing gave this tick to send, as JSON."""
        self.fan_out: FanOut | None = None
        """The ticks that were asked for beside this one; None where none was."""
        self._findings = Findings(self.opening)
        self._opened_at = datetime.now(UTC)
        self._opened = Moment()
        self._sealed = False
        self._unsealed = _unsealed(deployment)

    @property
    def claimed(self) -> int:
        """How many jobs this tick took."""
        return self._claiming.claimed

    @property
    def now(self) -> datetime:
        """By the database's clock, as the opening read it."""
        return self._opened_at + timedelta(seconds=self._opened.elapsed_seconds())

    async def open(self, caller: Caller, patience_seconds: float) -> tuple[Opened, Batch]:
        """The first trip. An idle tick is closed by it."""
        claim = secrets.randbits(63)
        settings, bounds, request = self._deployment.settings, self._bounds, self._request
        stop = self._claiming.stop_reason()
        parts = Parts(sealed=self._unsealed.opening() if self._unsealed else [])
        reminders = [] if settings.paused else [r for r in self._deployment.reminders if r.query is not None]

        def build(*, repeat: bool) -> list[Segment]:
            opening = opening_tick(self.opening, self._deployment, bounds, request, caller)
            return [
                [_BOUND, opening, *parts.statements, *self._claiming.statements(claim, stop, running=0, repeat=repeat)],
                *[ask_for_items(reminder, among=len(reminders)) for reminder in reminders],
            ]

        answers = await self._link.ask(build, patience_seconds=patience_seconds)
        answers[0].check()
        _, [opening], *rows = answers[0].rows
        tick, ran, reason, self._known_deployment, rescued, late, warnings, opened_at, due = opening
        self.tick = tick
        told, rest = parts.read(rows)
        opened = Opened(tick, ran, reason, rescued, late, warnings, opened_at)
        self._opened_at, self._opened = opened_at, Moment()
        if ran:
            asked = list(zip(reminders, answers[1:], strict=True))
            await self._findings.read(opened, due, self._deployment.reminders, asked)
        if self._unsealed and ran:
            self._unsealed.opened(told["sealed"])
        batch = self._batch(rest, claim)
        if ran:
            batch.closed = batch.closed and not self._findings and self._known_deployment and not self._to_seal
        return opened, batch

    async def exchange(self, ended: list[Ending], seats: Seats) -> Batch:
        """Settle these and claim for the free seats; the last one closes the tick."""
        asking = self._claiming
        if asking.asked_in_vain and not ended and not seats.running:
            least, most = _PAUSE_SECONDS
            await asyncio.sleep(min(least * 2**asking.asked_in_vain, most))
        parked = asking.parked
        self._count(ended)
        self.unsettled = endings = self.unsettled + ended
        try:
            batch = await self._settle(endings, seats)
        except psycopg.Error as error:
            batch = await self._settle_apart(endings, seats, error)
        self.unsettled = [ending for ending in endings if ending.ctx.job.id in batch.held]
        batch.settled = [ending for ending in endings if ending.ctx.job.id not in batch.held]
        for ending in batch.settled:
            if ending.completed and ending.ctx.job.id not in batch.completed | batch.lost:
                logged(ending)
        moved = bool(batch.jobs or batch.settled or batch.reminders or batch.fired or self._sealed)
        asking.asked_in_vain = 0 if moved or asking.parked > parked else asking.asked_in_vain + 1
        return batch

    def _count(self, ended: list[Ending]) -> None:
        if not ended:
            return
        if self.tally is None:
            from crontick.jobs.tally import Tally

            self.tally = Tally()
        self.tally.add(ended)

    async def _settle_apart(self, endings: list[Ending], seats: Seats, error: psycopg.Error) -> Batch:
        """One of them cannot be stored, which is what ``error`` says, or it is raised."""
        from crontick.jobs.settle_apart import data_error, settle_alone, together

        data_error(error)
        if not endings:
            raise error

        async def settle(ending: Ending) -> Batch:
            return await self._settle([ending], seats, claim_too=False, with_progress=False)

        alone = [await settle_alone(ending, settle) for ending in endings]
        held = frozenset().union(*(each.held for each in alone))
        self.unsettled = [ending for ending in endings if ending.ctx.job.id in held]
        return together(await self._settle([], seats, with_progress=False), alone)

    async def _settle(
        self, endings: list[Ending], seats: Seats, *, claim_too: bool = True, with_progress: bool = True
    ) -> Batch:
        claim = secrets.randbits(63)
        stop = self._claiming.stop_reason() if claim_too else "budget"
        running = seats.running if claim_too else max(seats.running, 1)
        knowing = [] if self._known_deployment else [knowing_kinds(self._deployment, self._opened_at)]
        progress = seats.progress() if with_progress else ()
        limits, kinds = self._claiming.limits, self.tally.json() if self.tally else None
        parts = Parts(
            fired=self._findings.firing() if claim_too else [],
            knowing=knowing,
            sealed=self._unsealed.writing(self.opening, look=bool(knowing)) if self._unsealed else [],
            reminders=self._findings.reminding() if claim_too else [],
            settled=settling(self.opening, endings, progress, limits=limits, kinds=kinds),
        )

        def build(*, repeat: bool) -> list[Segment]:
            asked = self._claiming.statements(claim, stop, running=running, repeat=repeat, seats=seats)
            return [[_BOUND, *parts.statements, *asked]]

        [answer] = await self._link.ask(build)
        answer.check()
        told, rest = parts.read(answer.rows[1:])
        if claim_too:
            self._findings.written()
        self._known_deployment = True
        self._sealed = bool(self._unsealed and told["sealed"] and self._unsealed.written(told["sealed"]))
        batch = self._batch(rest, claim)
        batch.fired = [*chain.from_iterable(told["fired"])]
        batch.reminders = [*chain.from_iterable(told["reminders"])]
        batch.closed = batch.closed and not (self._to_seal and stop is None)
        if told["settled"]:
            [[(lost, held, _, cancelled, completed, batch.refused)]] = told["settled"]
            batch.held, batch.lost, batch.completed = frozenset(held), frozenset(lost), frozenset(completed)
            batch.cancelled = frozenset(cancelled) - batch.held - batch.lost
        if batch.held:  # until the deadline; then their leases run out, and a later tick rescues them
            batch.closed = self._bounds.left <= 0 and not seats.running
        return batch

    def _ask(self, ticks: int) -> None:
        """At once, so that they run beside this one."""
        from crontick.jobs.fan_out import FanOut

        self._claiming.asked()
        self.fan_out = FanOut(self._deployment, self._bounds, self._request)
        self.fan_out.ask(ticks)

    @property
    def _to_seal(self) -> bool:
        return self._unsealed is not None and self._unsealed.met

    def _batch(self, rows: Sequence[Any], claim: int) -> Batch:
        jobs = []
        if len(rows) == 3:
            jobs = list(starmap(Job, [(*row, claim) for row in rows[1]]))
            if self._unsealed:
                self._unsealed.claimed(jobs)
        [closing] = rows[-1]
        closed, more, parked, stop_reason, cancels, next_due_at, oldest, unknown, active, self.alert_messages, asks = (
            closing
        )
        if asks:
            self._ask(asks)
        cleared = self._claiming.took(jobs, parked=parked)
        next_item_at = self._findings.next_at
        if closed and next_item_at is not None:
            next_due_at = min(next_due_at or next_item_at, next_item_at)
        return Batch(
            jobs,
            closed,
            more or (closed and self._findings.more),
            stop_reason or "empty",
            next_due_at,
            oldest or 0.0,
            cancels,
            unknown_kinds=unknown or (),
            active_alerts=active or (),
            cleared=cleared and more,
        )


def _unsealed(deployment: Deployment) -> "Unsealed | None":
    """None without keys: such a tick says and asks nothing of secret fields."""
    if deployment.keyring is None:
        return None
    from crontick.jobs.unsealed import Unsealed

    return Unsealed(deployment, deployment.keyring)
