"""The routes of the API, as one table: what routes them, describes them and calls them from the command line."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Literal, NamedTuple

import msgspec

from crontick.handler.operate import actions, reads, rows, states, ticking
from crontick.handler.operate.asked import (
    ActOnJob,
    ActOnMany,
    Asked,
    AtMost,
    DecideDoubt,
    IgnoreJob,
    ListAlerts,
    ListBreakers,
    ListDead,
    ListDoubts,
    ListJobs,
    ListTicks,
    NameTarget,
    NameWork,
    OneJob,
    RequeueJob,
    RequeueMany,
    RunSchedule,
)

SHORT: Final = 4096
LONG: Final = 2**19
"""Bytes of a body: of one with a list of ids, a payload or a marker's key, which may be as long as a payload is."""


class Route(NamedTuple):
    """One method of one path, for the admin's token: what it is asked, what does it, and what it answers."""

    method: Literal["GET", "POST"]
    path: str
    asked: type[Asked]
    do: Callable[[reads.Connection, Any], Awaitable[msgspec.Struct]]
    told: type[msgspec.Struct]
    bytes_at_most: int = SHORT

    @property
    def says(self) -> str:
        """One sentence on what it does."""
        return (self.do.__doc__ or "").partition(" Raises")[0].partition("; raises")[0].partition("\n")[0]

    @property
    def in_path(self) -> tuple[str, ...]:
        """The fields that stand in the path."""
        return tuple(part[1:-1] for part in self.path.split("/") if part.startswith("{"))

    @property
    def fields(self) -> tuple[str, ...]:
        """Those of the query or the body."""
        return tuple(name for name in self.asked.__struct_fields__ if name not in self.in_path)


ROUTES: Final = (
    Route("GET", "/api/overview", Asked, reads.read_overview, states.Overview),
    Route("GET", "/api/jobs", ListJobs, reads.list_jobs, rows.Jobs),
    Route("GET", "/api/jobs/{id}", OneJob, reads.read_job, rows.WholeJob),
    Route("GET", "/api/jobs/{id}/why", OneJob, reads.explain_job, rows.Why),
    Route("POST", "/api/jobs/{id}/requeue", RequeueJob, actions.requeue, actions.Requeued, LONG),
    Route("POST", "/api/jobs/{id}/ignore", IgnoreJob, actions.ignore, actions.Resolved),
    Route("POST", "/api/jobs/{id}/cancel", ActOnJob, actions.cancel, actions.JobStatus),
    Route("POST", "/api/jobs/{id}/run-now", ActOnJob, actions.run_now, actions.JobStatus),
    Route("POST", "/api/jobs/requeue", RequeueMany, actions.requeue_many, actions.Many, LONG),
    Route("POST", "/api/jobs/ignore", ActOnMany, actions.ignore_many, actions.Many, LONG),
    Route("POST", "/api/jobs/cancel", ActOnMany, actions.cancel_many, actions.Many, LONG),
    Route("POST", "/api/jobs/run-now", ActOnMany, actions.run_many_now, actions.Many, LONG),
    Route("GET", "/api/dead", ListDead, reads.list_dead, rows.DeadLetters),
    Route("GET", "/api/dead/groups", Asked, reads.list_dead_groups, rows.DeadGroups),
    Route("GET", "/api/doubts", ListDoubts, reads.list_doubts, rows.Doubts),
    Route("POST", "/api/doubts", DecideDoubt, actions.decide_doubt, actions.Decided, LONG),
    Route("GET", "/api/pauses", Asked, reads.list_pauses, states.Pauses),
    Route("POST", "/api/pause", NameWork, actions.pause, actions.Paused),
    Route("POST", "/api/resume", NameWork, actions.resume, actions.Paused),
    Route("GET", "/api/schedules", Asked, reads.list_schedules, states.Schedules),
    Route("POST", "/api/schedules/{name}/run", RunSchedule, actions.run_schedule, actions.RanSchedule),
    Route("GET", "/api/alerts", ListAlerts, reads.list_alerts, states.Alerts),
    Route("GET", "/api/breakers", ListBreakers, reads.list_breakers, states.Breakers),
    Route("POST", "/api/breakers/open", NameTarget, actions.open_breaker, actions.Switched),
    Route("POST", "/api/breakers/close", NameTarget, actions.close_breaker, actions.Switched),
    Route("POST", "/api/breakers/reset", NameTarget, actions.reset_breaker, actions.Switched),
    Route("GET", "/api/limits", AtMost, reads.list_limits, states.Limits),
    Route("GET", "/api/groups", AtMost, reads.list_groups, states.Groups),
    Route("GET", "/api/ticks", ListTicks, reads.list_ticks, ticking.Ticks),
    Route("GET", "/api/triggers", Asked, reads.list_triggers, ticking.Triggers),
)
