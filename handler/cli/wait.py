"""Watching one job until it has ended."""

import sys
import time
from collections.abc import Iterator
from typing import Any, Final

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from crontick.handler.cli.database import Connection, ask
from crontick.handler.cli.screen import clean, complain, say, say_json

LOOK_EVERY_SECONDS: Final = 0.5


def wait(conn: Connection, job: int, *, json: bool) -> None:
    """Show how far it is: a bar on a terminal, a line for each change in a pipe. Exits 1 unless it succeeds.

    A report is waited for to its last part. Nothing here makes it run: a tick must come.
    """
    told: dict[str, Any] = {}
    if json or not sys.stdout.isatty():
        for told in _changes(conn, job):
            if not json:
                say(_line(told))
    else:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns) as bars:
            bar = bars.add_task("queued", total=None)
            for told in _changes(conn, job):
                bars.update(bar, description=told["status"], completed=told["done"] or 0, total=_total(told))
    if json:
        say_json({"job": job, **told})
    if told["status"] != "succeeded":
        if told["last_error"]:
            complain(clean(told["last_error"]))
        raise typer.Exit(1)


def _changes(conn: Connection, job: int) -> Iterator[dict[str, Any]]:
    """How far it is, whenever that has changed; the last one has ended."""
    told: dict[str, Any] | None = None
    while told is None or not told["ended"]:
        if told is not None:
            time.sleep(LOOK_EVERY_SECONDS)
        [now] = ask(conn, "read_progress", {"id": job})
        if now != told:
            yield now
        told = now


def _line(told: dict[str, Any]) -> str:
    if told["done"] is None:
        return str(told["status"])
    of = f" of about {told['total']:,}" if told["total"] is not None and not told["ended"] else ""
    return f"{told['status']} {told['done']:,}{of}"


def _total(told: dict[str, Any]) -> int | None:
    """What the planner expected was an estimate: a run that is beyond it is not more than whole."""
    if told["ended"]:
        return int(told["done"] or 0)
    return None if told["total"] is None else max(int(told["total"]), int(told["done"] or 0) + 1)
