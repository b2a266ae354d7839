"""Reminders and limits: what the configuration says of them, beside what the database knows."""

from typing import Any, Final

import msgspec

from crontick.handler.dashboard.visit import Page, Visit
from crontick.handler.operate import reads
from crontick.handler.operate.asked import AtMost
from crontick.handler.operate.coming_up import coming_up
from crontick.handler.operate.refused import NotDone
from crontick.jobs.limits import limits_json
from crontick.jobs.sections import LimitSettings

_AT_MOST: Final = 100
_RECORDS: Final = 200
_LINES: Final = 20
"""Of each limit."""


async def reminders(visit: Visit) -> Page:
    """Each with what it did in the last day, and what was recorded last, so that it is not sent twice."""
    deployment = visit.deployment
    counted = {row["reminder"]: row for row in await reads.read(visit.conn, "count_reminder_records", {})}
    values = {
        "reminders": None if deployment is None else deployment.reminders,
        "counted": counted,
        "records": await reads.read(visit.conn, "list_reminder_records", {"at_most": _RECORDS}),
    }
    return Page("reminders.html", values)


async def preview(visit: Visit) -> Page:
    """What one reminder finds just now: its query is asked, and nothing is enqueued."""
    deployment, name = visit.deployment, visit.told.get("name")
    found = [one for one in deployment.reminders if one.name == name] if deployment else []
    if deployment is None or not found:
        raise NotDone(f"this deployment has no reminder {name}", "missing")
    items, failed = await coming_up(visit.conn, found, deployment.kinds)
    return Page("reminder.html", {"name": name, "items": items, "failed": failed})


async def limits(visit: Visit) -> Page:
    """Every limit of the configuration with its lines, and lines that wait for one which this process does not know."""
    deployment = visit.deployment
    known = {} if deployment is None else deployment.config.limits
    lines: dict[str, list[dict[str, Any]]] = {}
    if known:
        values = {"limits": limits_json(known), "at_most": _LINES}
        for line in await reads.read(visit.conn, "list_limit_lines", values):
            lines.setdefault(line["name"], []).append(line)
    waiting = (await reads.list_limits(visit.conn, AtMost(limit=_AT_MOST))).limits
    strange = [one for one in waiting if one.name not in known]
    told = [(name, *_of(name, limit), lines.get(name, [])) for name, limit in sorted(known.items())]
    return Page("limits.html", {"limits": told, "strange": strange, "lines": _LINES})


def _of(name: str, limit: LimitSettings) -> tuple[str, str]:
    """What it limits, and what it says."""
    [told] = msgspec.json.decode(limits_json({name: limit}), type=list[dict[str, Any]])
    said = msgspec.structs.asdict(limit)
    of = next(f"{what} {said[what]}" for what in ("kind", "queue", "endpoint", "provider") if said[what] is not None)
    return (f"{of}, each {limit.key.removeprefix('payload.')}" if limit.key else of), told["said"]
