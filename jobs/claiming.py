"""What a trip asks for once it has settled: jobs for the free seats, and the end of the tick when nothing is left."""

from collections.abc import Sequence
from typing import Final

from crontick.jobs.bounds import Bounds
from crontick.jobs.deployment import Deployment
from crontick.jobs.job import Job
from crontick.jobs.request import TickRequest
from crontick.jobs.seats import Seats
from crontick.jobs.summary import StopReason
from crontick.sql import query
from crontick.sql.wire import Statement, Value, statement

__all__ = ["Claiming"]

_PLACE: Final = statement(query("place_groups"), {})
_ASKS_AT_MOST: Final = 1000
_VAIN_ASKS_AT_MOST: Final = 6
_SUSPECTS_PER_TICK: Final = 20


class Claiming:
    """What one tick may still take, counted as it takes it."""

    def __init__(self, opening: int, deployment: Deployment, bounds: Bounds, request: TickRequest) -> None:
        self._opening = opening
        self._bounds = bounds
        self._request = request
        self._kinds = {
            name: kind for name, kind in deployment.kinds.items() if request.kinds is None or name in request.kinds
        }
        self._known = deployment.known
        self._gates: dict[str, Value] = {
            "markers": deployment.markers_json(),
            "limits": None,
            "breakers": deployment.breakers or None,
            "queue_seats": None,
        }
        kept = deployment.config.retention
        self._retention = [length.total_seconds() for length in (kept.succeeded, kept.dead, kept.ticks, kept.reports)]
        self._asks = 0
        self.asked_in_vain = 0
        self.parked = 0
        self.claimed = 0
        self._suspects = 0

    def took(self, jobs: Sequence[Job]) -> None:
        """Count what a claim brought."""
        self.claimed += len(jobs)
        self._suspects += sum(job.suspect for job in jobs)

    def stop_reason(self) -> StopReason | None:
        """Why nothing more may be claimed, or None."""
        return self._bounds.exhausted(claimed=self.claimed, fitting=bool(self._bounds.fitting(self._kinds.values())))

    def statements(
        self, claim: int, stop: StopReason | None, *, running: int, repeat: bool, seats: Seats | None = None
    ) -> list[Statement]:
        """Place, claim and close; without a claim where no seat is free."""
        bounds, request = self._bounds, self._request
        fitting = bounds.fitting(self._kinds.values())
        beside_a_suspect = seats is not None and seats.suspect
        free = min(bounds.concurrency - running, bounds.limit - self.claimed)
        if stop is not None or beside_a_suspect:
            free = 0
        only = request.kinds is not None or len(fitting) < len(self._kinds)
        filters: dict[str, Value] = {
            "known": self._known,
            "kinds": fitting if only else None,
            "queues": request.queues,
            "jobs": request.jobs,
        }
        statements = []
        if free > 0:
            claiming: dict[str, Value] = {
                "opening": self._opening,
                "claim": claim,
                "seats": free,
                "running": running,
                "given": self.claimed,
                "lease_seconds": bounds.lease_left,
                "suspects": self._suspects < _SUSPECTS_PER_TICK,
                "repeat": repeat,
            }
            statements = [_PLACE, statement(query("claim_jobs"), {**filters, **self._gates, **claiming})]
        self._asks += 1
        closing: dict[str, Value] = {
            "opening": self._opening,
            "claim": claim,
            "running": running,
            "stop_reason": stop or "empty",
            "ask_again": free > 0 and self._asks < _ASKS_AT_MOST and self.asked_in_vain < _VAIN_ASKS_AT_MOST,
            "parked": self.parked,
            "retention_seconds": self._retention,
        }
        return [*statements, statement(query("close_tick"), {**filters, **closing})]
