"""What lies where below ``/dashboard``; N stands for a number."""

from typing import Final

from crontick.handler.dashboard import configured, dead, decisions, jobs, lists
from crontick.handler.dashboard.overview import overview
from crontick.handler.dashboard.visit import Answer, Go, Visit


async def _log_out(_visit: Visit) -> Go:
    return Go("login")


READS: Final[dict[str, Answer]] = {
    "": overview,
    "jobs": jobs.jobs,
    "jobs/N": jobs.job,
    "dead": dead.dead,
    "alerts": lists.alerts,
    "doubts": lists.doubts,
    "schedules": lists.schedules,
    "reminders": configured.reminders,
    "reminders/preview": configured.preview,
    "endpoints": lists.endpoints,
    "limits": configured.limits,
    "groups": lists.groups,
    "pauses": lists.pauses,
    "reports": lists.reports,
    "ticks": lists.ticks,
    "audit": lists.audit,
}
WRITES: Final[dict[str, Answer]] = {
    "logout": _log_out,
    "jobs/cancel": jobs.cancel,
    "jobs/run-now": jobs.run_now,
    "jobs/requeue": jobs.requeue,
    "jobs/ignore": jobs.ignore,
    "dead/preview": dead.preview,
    "dead/act": dead.act,
    "alerts/silence": decisions.silence,
    "doubts/decide": decisions.decide,
    "pauses/pause": decisions.pause,
    "pauses/resume": decisions.resume,
    "breakers/open": decisions.open_breaker,
    "breakers/close": decisions.close_breaker,
    "breakers/reset": decisions.reset_breaker,
    "schedules/run": decisions.run_schedule,
}
