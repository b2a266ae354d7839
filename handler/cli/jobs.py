"""Looking at jobs."""

from typing import Annotated, Any, Final

import typer

from crontick.handler.cli.database import ask, reached
from crontick.handler.cli.options import Count, JobId, Json, Url, one_of
from crontick.handler.cli.screen import complain, readable, record, say, say_json, table
from crontick.jobs.secret_fields import shown

COLUMNS: Final = (
    "id",
    "kind",
    "queue",
    "status",
    "held_by",
    "attempt",
    "run_at",
    "finished_at",
    "group_key",
    "last_error",
)
OVER: Final = frozenset({"succeeded", "dead", "cancelled"})
UNFINISHED: Final = frozenset({"queued", "running", "failed"})
LOOK_AT: Final = 100_000
"""Jobs that are looked at in one statement, so that a search through millions is many short ones."""
ATTEMPTS: Final = (
    "number",
    "tick",
    "started_at",
    "took",
    "outcome",
    "status_code",
    "retry_at",
    "provider_message_id",
    "error",
)


def jobs(
    *,
    status: Annotated[
        str | None,
        typer.Option(
            parser=one_of("queued", "running", "succeeded", "failed", "dead", "cancelled"),
            metavar="STATUS",
            help="queued, running, succeeded, failed, dead or cancelled.",
        ),
    ] = None,
    kind: Annotated[str | None, typer.Option()] = None,
    queue: Annotated[str | None, typer.Option()] = None,
    group: Annotated[str | None, typer.Option(help="The group's key.")] = None,
    error: Annotated[str | None, typer.Option(help="A part of the last error.")] = None,
    below: Annotated[int | None, typer.Option(help="Go on below this id: the last one of the page before.")] = None,
    limit: Count = 50,
    url: Url = None,
    json: Json = False,
) -> None:
    """List jobs, the newest first."""
    values = {
        "status": status,
        "kind": kind,
        "queue": queue,
        "group_key": group,
        "error": error,
        "since": None,
        "until": None,
        "unfinished": status in UNFINISHED,
        "finished": status in OVER,
        "look_at": LOOK_AT,
    }
    rows: list[dict[str, Any]] = []
    nothing = "no job is like that"
    with reached(url) as conn:
        while len(rows) < limit:
            page = ask(conn, "list_jobs", {**values, "below": below, "at_most": limit - len(rows)})
            rows += [row for row in page if row["id"] is not None]
            if page and page[0]["warning"]:
                nothing = f"no job is like that: {page[0]['warning']}"
            below = page[0]["floor"] if page else None
            if below is None:
                break
    table(rows, COLUMNS, as_json=json, nothing=nothing)


def show(job: JobId, url: Url = None, json: Json = False) -> None:
    """Show one job: what it is, why it is where it is, and its attempts."""
    with reached(url) as conn:
        found = ask(conn, "read_job", {"id": job})
        attempts = ask(conn, "list_attempts", {"id": job})
    if not found:
        complain(f"there is no job {job}: finished jobs are kept for a time only")
        raise typer.Exit(1)
    [fields] = found
    fields["payload"] = shown(fields["payload"], fields.pop("secret"))
    if json:
        texts = {name: readable(fields[name]) for name in ("payload", "result")}
        say_json({**fields, **texts, "attempts": attempts})
        return
    record(fields, as_json=False)
    if attempts:
        say("")
        table(attempts, ATTEMPTS, as_json=False, nothing="")


def why(job: JobId, url: Url = None, json: Json = False) -> None:
    """Say in one sentence what a job waits for, or how it ended, and the mend."""
    with reached(url) as conn:
        [answer] = ask(conn, "explain_job", {"id": job})
    if json:
        say_json({"job": job, "why": answer["why"]})
    else:
        say(answer["why"])
    if not answer["known"]:
        raise typer.Exit(1)
