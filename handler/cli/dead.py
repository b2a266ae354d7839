"""Dead letters: three decisions that a person takes."""

import json as json_texts
from datetime import datetime
from typing import Annotated, Any, Final

import msgspec
import typer

from crontick.handler.cli import jobs as job_commands
from crontick.handler.cli.database import There, ask, reached
from crontick.handler.cli.many import (
    All,
    Decision,
    EndpointFilter,
    ErrorFilter,
    FingerprintFilter,
    KindFilter,
    QueueFilter,
    Yes,
    chosen,
    decide,
)
from crontick.handler.cli.options import By, Count, JobId, Json, Reason, SomeIds, Url, moment
from crontick.handler.cli.screen import say, say_json, table
from crontick.handler.operate.actions import Requeued
from crontick.jobs.secret_fields import seal_edited

app: Final = typer.Typer(help="Jobs that stopped retrying, and what becomes of them.", no_args_is_help=True)
COLUMNS: Final = ("id", "kind", "endpoint", "queue", "attempt", "died_at", "last_status_code", "last_error")
ERRORS: Final = ("jobs", "kind", "endpoint", "fingerprint", "first_at", "last_at", "last_status_code", "last_error")
LOOK_AT: Final = 10_000
"""Dead jobs that are counted, the newest."""


@app.command("list")
def list_(
    *,
    kind: Annotated[str | None, typer.Option()] = None,
    queue: Annotated[str | None, typer.Option()] = None,
    error: Annotated[str | None, typer.Option(help="A part of the last error.")] = None,
    fingerprint: Annotated[str | None, typer.Option(help="All that died of one error; `--json` shows it.")] = None,
    endpoint: Annotated[str | None, typer.Option(help="Deliveries to this endpoint.")] = None,
    below: Annotated[int | None, typer.Option(help="Go on below this id: the last one of the page before.")] = None,
    limit: Count = 50,
    url: Url = None,
    json: Json = False,
) -> None:
    """List dead jobs that wait for a person, the latest first."""
    filters = {"kind": kind, "queue": queue, "error": error, "fingerprint": fingerprint, "endpoint": endpoint}
    values = {**filters, "look_at": LOOK_AT}
    rows: list[dict[str, Any]] = []
    with reached(url) as conn:
        while len(rows) < limit:
            page = ask(conn, "list_dead_letters", {**values, "below": below, "at_most": limit - len(rows)})
            rows += [row for row in page if row["id"] is not None]
            below = page[0]["floor"] if page else None
            if below is None:
                break
    table(rows, COLUMNS, as_json=json, nothing="no dead job waits for anybody")


@app.command()
def show(job: JobId, url: Url = None, json: Json = False) -> None:
    """Show a dead job with its attempts."""
    job_commands.show(job, url, json)


@app.command()
def errors(url: Url = None, json: Json = False) -> None:
    """Count the dead jobs by kind, endpoint and error, most of them first."""
    with reached(url) as conn:
        rows = ask(conn, "list_dead_groups", {"look_at": LOOK_AT})
    table(rows, ERRORS, as_json=json, nothing="no dead job waits for anybody")


@app.command()
def requeue(
    by: By,
    jobs: SomeIds = None,
    *,
    reason: Reason = None,
    payload: Annotated[str | None, typer.Option(help="JSON: the copy's payload instead of the dead job's.")] = None,
    at: Annotated[datetime | None, typer.Option(parser=moment, metavar="TIME", help="When the copy is due.")] = None,
    kind: KindFilter = None,
    queue: QueueFilter = None,
    error: ErrorFilter = None,
    fingerprint: FingerprintFilter = None,
    endpoint: EndpointFilter = None,
    everything: All = False,
    per_minute: Annotated[int, typer.Option(min=1, max=60_000, help="Of many: copies due in a minute.")] = 600,
    yes: Yes = False,
    url: Url = None,
    json: Json = False,
) -> None:
    """Enqueue a fresh copy of each; of all that match, after a question.

    A second time names the first copy and does nothing: exit 1 where that drops a payload or a time.
    """
    filters = {"kind": kind, "queue": queue, "error": error, "fingerprint": fingerprint, "endpoint": endpoint}
    matching = chosen(jobs, filters, everything=everything)
    if payload is not None:
        if not jobs:
            raise typer.BadParameter("a payload is for jobs that are named by their ids")
        _check_json(payload)
    if not jobs:
        decision = Decision(action="requeue", matching=matching, by=by, reason=reason, per_minute=per_minute, at=at)
        decide(decision, url, yes=yes, json=json)
        return
    dropped = False
    with reached(url) as conn:
        for job in jobs:
            edited = payload if payload is None else _sealed(conn, job, payload)
            values = {"id": job, "by": by, "reason": reason, "payload": edited, "run_at": at}
            [row] = ask(conn, "requeue_job", values)
            done = Requeued(**{**row, "job": job})
            dropped = dropped or (done.before and (payload is not None or at is not None))
            if json:
                say_json(msgspec.structs.asdict(done))
            else:
                say(str(done))
    if dropped:
        raise typer.Exit(1)


@app.command()
def ignore(
    by: By,
    reason: Annotated[str, typer.Option("--reason", help="Why nothing has to be done.")],
    jobs: SomeIds = None,
    *,
    kind: KindFilter = None,
    queue: QueueFilter = None,
    error: ErrorFilter = None,
    fingerprint: FingerprintFilter = None,
    endpoint: EndpointFilter = None,
    everything: All = False,
    yes: Yes = False,
    url: Url = None,
    json: Json = False,
) -> None:
    """Leave each as it is, with a reason; all that match, after a question."""
    filters = {"kind": kind, "queue": queue, "error": error, "fingerprint": fingerprint, "endpoint": endpoint}
    matching = chosen(jobs, filters, everything=everything)
    if not jobs:
        decide(Decision(action="ignore", matching=matching, by=by, reason=reason), url, yes=yes, json=json)
        return
    with reached(url) as conn:
        for job in jobs:
            ask(conn, "ignore_job", {"id": job, "by": by, "reason": reason})
            if json:
                say_json({"job": job, "resolution": "ignored"})
            else:
                say(f"job {job} is ignored")


def _sealed(conn: There, job: int, payload: str) -> str:
    """The edited payload as it may rest; a field that is still hidden keeps what it had."""
    found = ask(conn, "read_job", {"id": job})
    if not found:
        return payload
    [dead] = found
    return seal_edited(payload, dead["payload"], dead["kind"], dead["secret"])


def _check_json(text: str) -> None:
    try:
        json_texts.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"the payload is no JSON: {error}") from None
