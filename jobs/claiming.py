"""What a trip asks for once it has settled: jobs for the free seats, and the end of the tick when nothing is left."""

import os
from collections.abc import Sequence
from typing import Final

import msgspec

from crontick.jobs.bounds import Bounds
from crontick.jobs.clock import Moment
from crontick.jobs.deployment import Deployment
from crontick.jobs.job import Job
from crontick.jobs.outward_sections import FanOutSettings
from crontick.jobs.request import DEEPEST, TickRequest
from crontick.jobs.seats import Seats
from crontick.jobs.settings import LAMBDA_FUNCTION
from crontick.jobs.summary import StopReason
from crontick.sql import query
from crontick.sql.wire import Statement, Value, statement

__all__ = ["Claiming"]

_PLACE: Final = statement(query("place_groups"), {})
_ASKS_AT_MOST: Final = 1000
_VAIN_ASKS_AT_MOST: Final = 6
_SUSPECTS_PER_TICK: Final = 20
_LIMIT_AT_MOST: Final = 1_000_000


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
        self.limits = deployment.limits_json()
        self._gates: dict[str, Value] = {
            "markers": deployment.markers_json(),
            "limits": self.limits,
            "breakers": deployment.breakers or None,
        }
        kept = deployment.config.retention
        self._retention = [
            length.total_seconds() for length in (kept.succeeded, kept.dead, kept.ticks, kept.reports, kept.audit)
        ]
        self._deployment = deployment
        self._alerts = deployment.alerts
        self._fan_out = _asking(deployment, request)
        self._max_parallel = deployment.settings.max_parallel_ticks
        self._first: Moment | None = None
        self._asks = 0
        self.asked_in_vain = 0
        self.parked = 0
        self.claimed = 0
        self._free = 0
        self._suspects = 0

    def took(self, jobs: Sequence[Job], *, parked: int) -> bool:
        """Count what a claim brought; whether it only cleared the way to what may take the seats that are left."""
        cleared = parked > self.parked and len(jobs) < self._free
        self.parked = parked
        self.claimed += len(jobs)
        if jobs and self._first is None:
            self._first = Moment()
        self._suspects += sum(job.suspect for job in jobs)
        return cleared and not any(job.suspect for job in jobs)

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
        self._free = free
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
                "queue_seats": self._queue_seats(seats),
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
            "stay_seconds": bounds.stay_seconds if self.limits else 0.0,
            "alerts": self._alerts,
            "fan_out": self._wish(stop, running=running),
        }
        return [*statements, statement(query("close_tick"), {**filters, **closing})]

    def asked(self) -> None:
        """A tick asks for others once."""
        self._fan_out = None

    def _wish(self, stop: StopReason | None, *, running: int) -> str | None:
        """What others are asked for by, as JSON; None where none may be asked for, as by a process that ends."""
        if self._fan_out is None or stop == "shutdown":
            return None
        in_time: int | None = None
        if stop is not None:
            in_time = 0
        elif self._first is not None and (ended := self.claimed - running):
            left = max(self._bounds.left_for_functions, 0.0)
            in_time = min(int(ended * left / max(self._first.elapsed_seconds(), 0.001)), _LIMIT_AT_MOST)
        return msgspec.json.encode(
            {
                "limit": min(self._bounds.limit, _LIMIT_AT_MOST),
                "in_time": in_time,
                "max_parallel": self._max_parallel,
                "max_per_hour": self._fan_out.max_per_hour,
                "kinds": sorted(self._kinds),
            }
        ).decode()

    def _queue_seats(self, seats: Seats | None) -> str | None:
        """The free seats of each queue that has a number of them; None where no queue has one."""
        return self._deployment.queue_seats_json({} if seats is None else seats.running_by_queue())


def _asking(deployment: Deployment, request: TickRequest) -> FanOutSettings | None:
    """``[fan_out]``, where this tick may ask and knows whom: what was granted counts, whoever heard of it."""
    section, settings = deployment.config.fan_out, deployment.settings
    if section is None or request.depth >= DEEPEST or request.jobs is not None:
        return None
    by_url = settings.cron_secrets and (section.url or settings.public_url)
    return section if by_url or LAMBDA_FUNCTION in os.environ else None
