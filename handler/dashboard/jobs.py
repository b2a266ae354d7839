"""Jobs: the list that is filtered and searched, and one job's whole story."""

from typing import Any, Final
from urllib.parse import urlencode

import msgspec

from crontick.handler.dashboard.asking import acting, asked, back, fields
from crontick.handler.dashboard.visit import Go, Page, Visit
from crontick.handler.operate import actions, reads
from crontick.handler.operate.asked import ActOnJob, IgnoreJob, ListJobs, OneJob, RequeueJob
from crontick.handler.operate.refused import NotDone

FILTERS: Final = ("status", "kind", "queue", "group", "error", "since", "until")
ACTS: Final = 100
STATUSES: Final = ("queued", "running", "succeeded", "failed", "dead", "cancelled")


async def jobs(visit: Visit) -> Page:
    """A page of the list; the filters that cannot be are told in a sentence."""
    chosen = fields(visit, *FILTERS)
    values: dict[str, Any] = {"chosen": chosen, "statuses": STATUSES, "jobs": [], "more": None, "wrong": ""}
    given = {name: _moment(value) if name in ("since", "until") else value for name, value in chosen.items()}
    try:
        found = await reads.list_jobs(visit.conn, asked(ListJobs, {**given, "below": visit.told.get("below")}))
    except NotDone as refused:
        return Page("jobs.html", {**values, "wrong": str(refused)}, 422)
    values |= {"jobs": found.jobs, "more": found.below and _next(chosen, found.below)}
    return Page("jobs.html", values)


async def job(visit: Visit) -> Page:
    """All that is known of one."""
    found = await reads.read_job(visit.conn, OneJob(id=visit.number))
    acts = await reads.read(visit.conn, "list_job_audit", {"id": visit.number, "at_most": ACTS})
    return Page("job.html", {"job": found, "acts": acts})


async def cancel(visit: Visit) -> Go:
    """Cancel it, or ask it to stop."""
    done = await actions.cancel(visit.conn, asked(ActOnJob, acting(visit, "id")))
    how = "runs, and was asked to stop" if done.status == "running" else f"is {done.status}"
    return Go(back(visit, f"jobs/{done.job}"), f"Job {done.job} {how}.")


async def run_now(visit: Visit) -> Go:
    """Make it due."""
    done = await actions.run_now(visit.conn, asked(ActOnJob, acting(visit, "id")))
    waits = done.status in ("queued", "failed")
    how = "has its time now: the next tick takes it unless something holds it" if waits else f"is {done.status}"
    return Go(back(visit, f"jobs/{done.job}"), f"Job {done.job} {how}.")


async def ignore(visit: Visit) -> Go:
    """Leave it dead."""
    done = await actions.ignore(visit.conn, asked(IgnoreJob, acting(visit, "id")))
    return Go(back(visit, f"jobs/{done.job}"), f"Job {done.job} is ignored.")


async def requeue(visit: Visit) -> Go:
    """Enqueue a copy, perhaps with another payload."""
    wanted, payload = asked(RequeueJob, acting(visit, "id")), visit.told.given("payload")
    if payload is not None:
        wanted = msgspec.structs.replace(wanted, payload=_json(payload))
    done = await actions.requeue(visit.conn, wanted)
    which = "" if done.before else ", which is this one"
    return Go(f"jobs/{done.requeued_as}", f"{str(done).capitalize()}{which}.")


def _moment(text: str) -> str:
    """What a browser's field for a time says has no zone: it is UTC, as all times of the page are."""
    return f"{text}:00Z" if len(text) == len("2026-11-30T09:00") else text


def _json(text: str) -> msgspec.Raw:
    try:
        return msgspec.json.decode(text.encode("utf-8", "replace"), type=msgspec.Raw)
    except msgspec.MsgspecError as error:
        raise NotDone(f"the payload is no JSON: {error}") from None


def _next(chosen: dict[str, str], below: int) -> str:
    return urlencode({**{name: value for name, value in chosen.items() if value}, "below": below})
