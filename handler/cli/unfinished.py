"""What can be done to jobs that have not ended: to those that are named, or to all that match."""

from typing import Final

import typer

from crontick.handler.cli.database import There, ask, reached
from crontick.handler.cli.jobs import OVER
from crontick.handler.cli.many import (
    All,
    Decision,
    ErrorFilter,
    GroupFilter,
    KindFilter,
    QueueFilter,
    StatusFilter,
    Yes,
    chosen,
    decide,
)
from crontick.handler.cli.options import By, Json, Reason, SomeIds, Url
from crontick.handler.cli.screen import say, say_json

ENDED: Final = OVER - {"cancelled"}
"""Whoever cancels a job a second time has what they want."""


def cancel(
    by: By,
    jobs: SomeIds = None,
    *,
    reason: Reason = None,
    status: StatusFilter = None,
    kind: KindFilter = None,
    queue: QueueFilter = None,
    group: GroupFilter = None,
    error: ErrorFilter = None,
    everything: All = False,
    yes: Yes = False,
    url: Url = None,
    json: Json = False,
) -> None:
    """Cancel jobs; those that run are asked to stop; exit 1 for one that is over. All that match, after a question."""
    filters = {"status": status, "kind": kind, "queue": queue, "group": group, "error": error}
    matching = chosen(jobs, filters, everything=everything)
    if not jobs:
        decide(Decision(action="cancel", matching=matching, by=by, reason=reason), url, yes=yes, json=json)
        return
    over = False
    with reached(url) as conn:
        for job in jobs:
            [answer] = ask(conn, "cancel_job", {"id": job, "by": by, "reason": reason})
            became = answer["status"]
            over = over or became in ENDED
            if json:
                say_json({"job": job, "status": became})
            else:
                say(_cancelled(job, became))
    if over:
        raise typer.Exit(1)


def run_now(
    by: By,
    jobs: SomeIds = None,
    *,
    reason: Reason = None,
    status: StatusFilter = None,
    kind: KindFilter = None,
    queue: QueueFilter = None,
    group: GroupFilter = None,
    error: ErrorFilter = None,
    everything: All = False,
    yes: Yes = False,
    url: Url = None,
    json: Json = False,
) -> None:
    """Make failed or future jobs due at once; exit 1 for one that is over. All that match, after a question."""
    filters = {"status": status, "kind": kind, "queue": queue, "group": group, "error": error}
    matching = chosen(jobs, filters, everything=everything)
    if not jobs:
        decide(Decision(action="run_now", matching=matching, by=by, reason=reason), url, yes=yes, json=json)
        return
    over = False
    with reached(url) as conn:
        for job in jobs:
            [answer] = ask(conn, "hurry_job", {"id": job, "by": by, "reason": reason})
            became = answer["status"]
            over = over or became in OVER
            if json:
                say_json({"job": job, "status": became})
            else:
                say(_hurried(conn, job, became))
    if over:
        raise typer.Exit(1)


def _cancelled(job: int, status: str) -> str:
    """What became of a job that nobody wants any more."""
    if status in ENDED:
        mend = f": `crontick dead ignore {job} --reason …` decides it" if status == "dead" else ""
        return f"job {job} is over ({status}), and nothing was changed{mend}"
    return f"job {job} is {status}{' and was asked to stop' if status == 'running' else ''}"


def _hurried(conn: There, job: int, status: str) -> str:
    """What became of a job that somebody wanted at once."""
    if status in OVER:
        mend = f"`crontick dead requeue {job}` enqueues a fresh copy" if status == "dead" else "enqueue a new job"
        return f"job {job} is over ({status}), and nothing was changed: {mend}"
    if status == "running":
        return f"job {job} runs already"
    [fields] = ask(conn, "read_job", {"id": job})
    if not fields["why"].startswith("due since"):
        return f"job {job} has its time now, and is held: {fields['why']}"
    again = " again (an attempt failed, and more are left)" if status == "failed" else ""
    return f"job {job} is due at once: the next tick tries it{again}"
