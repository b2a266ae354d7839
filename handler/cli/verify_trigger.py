"""Waiting for the first tick that something outside calls, and how late it came."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Annotated, Final

import psycopg
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from crontick.handler.cli.arrived import Arrival, arrival, first_since, inside_since, is_outside
from crontick.handler.cli.database import ask, reached
from crontick.handler.cli.options import Json, Url, length, moment
from crontick.handler.cli.remote import NotDoneThere
from crontick.handler.cli.screen import Row, cell, clean, complain, say, say_json
from crontick.handler.lengths import lasting
from crontick.jobs.unavailable import Unavailable

WITHIN: Final = timedelta(minutes=20)
LOOK_EVERY_SECONDS: Final = 2.0
MENDS: Final = (
    (
        "the secret: the call needs `Authorization: Bearer …` with a token of the deployment's CRON_SECRET; with"
        " another it is answered 401, which the trigger's own log shows"
    ),
    (
        "the URL: it is POST https://app.example/cron/tick; 404 means another path, or no CRON_SECRET there, and a"
        " redirect is no tick"
    ),
    "the database: a deployment whose CRONTICK_DATABASE_URL is another one writes its ticks there",
    (
        "the workflow: GitHub runs the default branch's alone, disables it after 60 days without activity in a public"
        " repository, and stops when a private one has used up its minutes: enable it under Actions, and run it by hand"
    ),
    (
        "the schedule: GitHub's comes late, often by ten minutes, at times by hours, or not at all: wait with"
        " --within 6h, or let a second trigger call as well, which does no harm"
    ),
)

Within = Annotated[
    timedelta | None,
    typer.Option("--within", parser=length, metavar="LENGTH", help="How long to wait.", show_default="20m"),
]
Since = Annotated[
    datetime | None,
    typer.Option("--since", parser=moment, metavar="MOMENT", help="Count ticks since then.", show_default="now"),
]


def verify_trigger(
    within: Within = None,
    since: Since = None,
    trigger: Annotated[str | None, typer.Option(help="The one to wait for; else any from outside.")] = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Wait for the first tick that something outside calls, and say how late it was; exit 1 when none comes in time."""
    patience = WITHIN if within is None else within
    with reached(url) as there:
        [state] = ask(there, "read_state")
        known = ask(there, "list_triggers")
    began = since or state["now"]
    with _told_to_wait(patience, trigger, quiet=json):
        came = _wait(url, began, trigger, patience)
    if came is None:
        with reached(url) as there:
            inside = inside_since(there, began)
        _show_none(patience, _facts(known, inside, state["now"]), json=json)
        raise typer.Exit(1)
    if json:
        say_json({"tick": came.tick, "expected": came.expected, "gap": came.gap, "late": came.late})
    else:
        say(_line(came))


def _wait(url: str | None, since: datetime, trigger: str | None, patience: timedelta) -> Arrival | None:
    """None when the time is over. A deployment that is being replaced, or a database that is away, is asked again."""
    ends = time.monotonic() + patience.total_seconds()
    while True:
        over = time.monotonic() >= ends
        try:
            # A connection for each look: between two, none keeps the database awake.
            with reached(url) as there:
                found = first_since(there, since, trigger)
                if found is not None or over:
                    return None if found is None else arrival(there, found)
        except (Unavailable, NotDoneThere, psycopg.OperationalError):
            if over:
                raise
        time.sleep(min(LOOK_EVERY_SECONDS, max(ends - time.monotonic(), 0)))


@contextmanager
def _told_to_wait(patience: timedelta, trigger: str | None, *, quiet: bool) -> Iterator[None]:
    """On a terminal something moves while nothing comes; in a pipe one line says what is waited for."""
    sentence = clean(f"waiting up to {lasting(patience)} for a tick of {trigger or 'a trigger outside'}")
    if quiet or not sys.stderr.isatty():
        complain(sentence)
        yield
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        shown.add_task(sentence, total=None)
        yield


def _line(came: Arrival) -> str:
    tick = came.tick
    told = f"{tick['trigger'] or 'unknown'} called tick {tick['id']} at {cell(tick['started_at'])} ({tick['ended']})"
    if tick["late"] is not None:
        return f"{told}, {lasting(tick['late'])} after it was due"
    if came.late is not None and came.gap is not None:
        how = f"{lasting(came.late)} late" if came.late else "in time"
        return f"{told}, {how}: every {lasting(came.expected or timedelta())}, and {lasting(came.gap)} after the last"
    return f"{told}; how late is not known before eleven calls, or `expected_every` in [alerts]"


def _facts(known: list[dict[str, object]], inside: list[str], now: datetime) -> list[str]:
    """What was seen of triggers, and what was not."""
    outside: list[Row] = [row for row in known if is_outside(str(row["trigger"]))]
    facts = [f"{row['trigger']} called last {lasting(now - row['last_at'])} before this wait" for row in outside]
    if not outside:
        facts.append("nothing outside has called in the last seven days")
    if inside:
        facts.append(f"crontick itself ticked meanwhile ({', '.join(inside)}), which no trigger did")
    return facts


def _show_none(patience: timedelta, facts: list[str], *, json: bool) -> None:
    if json:
        say_json({"tick": None, "facts": facts, "mends": MENDS})
        return
    complain(f"no tick came from outside in {lasting(patience)}")
    for sentence in facts:
        complain(f"  {sentence}")
    complain("look at:")
    for sentence in MENDS:
        complain(f"- {sentence}")
