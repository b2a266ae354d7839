"""The pages that are a list with its actions."""

from datetime import timedelta
from typing import Final

from crontick.handler.dashboard.asking import asked
from crontick.handler.dashboard.visit import Page, Visit
from crontick.handler.operate import reads
from crontick.handler.operate.asked import Asked, AtMost, ListBreakers, ListDoubts, ListTicks

WHAT: Final = ("queue", "kind", "group", "endpoint", "schedule", "all")
_AT_MOST: Final = 100
_GROUPS: Final = 50


async def alerts(visit: Visit) -> Page:
    """What is wrong just now, then what was; and of what nobody is told."""
    values = {
        "alerts": await reads.read(visit.conn, "list_alerts", {"active": False, "at_most": _AT_MOST}),
        "silences": await reads.read(visit.conn, "list_silences", {}),
    }
    return Page("alerts.html", values)


async def doubts(visit: Visit) -> Page:
    """Messages of which nobody knows whether they were sent."""
    return Page("doubts.html", {"doubts": (await reads.list_doubts(visit.conn, ListDoubts(limit=_AT_MOST))).doubts})


async def schedules(visit: Visit) -> Page:
    """What fires when."""
    return Page("schedules.html", {"schedules": (await reads.list_schedules(visit.conn, Asked())).schedules})


async def endpoints(visit: Visit) -> Page:
    """Receivers of webhooks, and targets that failed lately."""
    values = {
        "endpoints": await reads.read(visit.conn, "list_endpoints", {"at_most": _AT_MOST}),
        "breakers": (await reads.list_breakers(visit.conn, ListBreakers())).breakers,
    }
    return Page("endpoints.html", values)


async def groups(visit: Visit) -> Page:
    """Groups whose head keeps others waiting."""
    return Page("groups.html", {"groups": (await reads.list_groups(visit.conn, AtMost(limit=_GROUPS))).groups})


async def pauses(visit: Visit) -> Page:
    """What is paused, and the form that pauses more."""
    found = (await reads.list_pauses(visit.conn, Asked())).paused
    values = {"paused": found, "kinds": WHAT, "what": visit.told.get("what"), "name": visit.told.get("name")}
    return Page("pauses.html", values)


async def reports(visit: Visit) -> Page:
    """Runs of reports; with a link to the file where links can be made."""
    from crontick.jobs.links import LinkError, make_link

    runs = await reads.read(visit.conn, "list_report_runs", {"at_most": _AT_MOST})
    for run in runs:
        try:
            ready = run["status"] == "succeeded"
            run["link"] = make_link(visit.settings, run["id"], lasts=timedelta(hours=1)) if ready else None
        except LinkError:
            run["link"] = None
    return Page("reports.html", {"runs": runs})


async def ticks(visit: Visit) -> Page:
    """When each came, what called it, how it ended."""
    told = visit.told
    found = await reads.list_ticks(
        visit.conn, asked(ListTicks, {"trigger": told.get("trigger"), "below": told.get("below"), "limit": _AT_MOST})
    )
    return Page("ticks.html", {"ticks": found.ticks, "below": found.below, "trigger": told.get("trigger")})


async def audit(visit: Visit) -> Page:
    """Who did what, when and why."""
    below = asked(ListTicks, {"below": visit.told.get("below")}).below
    acts = await reads.read(visit.conn, "list_audit", {"below": below, "at_most": _AT_MOST})
    return Page("audit.html", {"acts": acts, "below": acts[-1]["id"] if len(acts) == _AT_MOST else None})
