"""Enqueueing one job by hand."""

import json as json_texts
import sys
from datetime import datetime, timedelta
from typing import Annotated, Literal

import typer

from crontick.handler.cli.database import ask_one, connected
from crontick.handler.cli.options import Json, length, moment
from crontick.handler.cli.screen import say, say_json
from crontick.jobs.enqueue import Order
from crontick.jobs.enqueue import enqueue as insert
from crontick.jobs.secret_fields import seal_for_rest

Moment = Annotated[datetime | None, typer.Option(parser=moment, metavar="TIME")]


def enqueue(
    kind: Annotated[str, typer.Argument(metavar="KIND")],
    payload: Annotated[str, typer.Argument(metavar="JSON", help="The payload; - reads it from stdin.")] = "{}",
    *,
    run_at: Moment = None,
    delay: Annotated[
        timedelta | None, typer.Option("--in", parser=length, metavar="LENGTH", help="Due after this, such as 90m.")
    ] = None,
    queue: Annotated[str | None, typer.Option()] = None,
    priority: Annotated[int | None, typer.Option(min=-100, max=100)] = None,
    max_attempts: Annotated[int | None, typer.Option(min=1, max=100)] = None,
    unique_key: Annotated[str | None, typer.Option()] = None,
    unique_for: Annotated[
        str, typer.Option(help="active, waiting, always, or an interval such as '24 hours'.")
    ] = "active",
    on_conflict: Annotated[Literal["keep", "replace"], typer.Option()] = "keep",
    group: Annotated[str | None, typer.Option(help="Jobs of one group run one at a time, in order.")] = None,
    expires_at: Moment = None,
    wait: Annotated[bool, typer.Option("--wait", help="Until it has ended; exit 1 unless it succeeds.")] = False,
    json: Json = False,
) -> None:
    """Enqueue a job and print its id; where a unique key is taken, that of the job that has it."""
    if run_at is not None and delay is not None:
        raise typer.BadParameter("--run-at and --in both say when: give one of them")
    given = _payload(payload)
    with connected() as conn:
        secret = ask_one(conn, "read_secret_fields", {"kind": kind})
        order = Order.build(
            kind,
            seal_for_rest(given, kind, secret, unique_key, group),
            run_at=run_at if delay is None else delay,
            unique_for=unique_for,
            expires_at=expires_at,
            queue=queue,
            priority=priority,
            max_attempts=max_attempts,
            unique_key=unique_key,
            group_key=group,
            on_conflict=on_conflict,
        )
        job = insert(conn, order)
        if not (json and wait):
            _tell(job, json=json)
        if wait:
            from crontick.handler.cli.wait import wait as wait_for

            wait_for(conn, job, json=json)


def _tell(job: int, *, json: bool) -> None:
    if json:
        say_json({"job": job})
    else:
        say(str(job))


def _payload(given: str) -> str:
    text = sys.stdin.read() if given == "-" else given
    try:
        json_texts.loads(text)
    except (ValueError, RecursionError) as error:
        raise typer.BadParameter(f"the payload is no JSON: {error}") from None
    return text
