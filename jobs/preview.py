"""A dry run: what a tick would run now, claimed by nobody."""

from crontick.jobs.bounds import Bounds
from crontick.jobs.caller import Caller
from crontick.jobs.deployment import Deployment
from crontick.jobs.link import Trips
from crontick.jobs.request import TickRequest
from crontick.jobs.summary import Summary, WouldRun
from crontick.sql import query
from crontick.sql.wire import Value, statement

__all__ = ["preview"]


async def preview(link: Trips, deployment: Deployment, request: TickRequest, bounds: Bounds, caller: Caller) -> Summary:
    """The due jobs of known kinds in the order of their claims, ``limit`` at most; writes nothing."""
    values: dict[str, Value] = {
        "known": [name for name in deployment.known if request.kinds is None or name in request.kinds],
        "queues": request.queues,
        "jobs": request.jobs,
        "limits": deployment.limits_json(),
        "most": bounds.limit,
    }
    [answer] = await link.tell([[statement(query("list_due_jobs"), values)]])
    answer.check()
    summary = Summary(caller.trigger)
    summary.would_run = [WouldRun(*row) for row in answer.rows[0]]
    summary.duration_ms = round(bounds.started.elapsed_seconds() * 1000)
    return summary
