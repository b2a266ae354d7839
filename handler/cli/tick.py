"""A tick here, in this process."""

import asyncio
import signal
from datetime import timedelta
from typing import Annotated, Any

import msgspec
import typer

from crontick.handler.cli.database import naming, settings
from crontick.handler.cli.options import Json, length
from crontick.handler.cli.screen import record, say, say_json, table
from crontick.jobs.caller import Caller
from crontick.jobs.deployment import Deployment, load_deployment
from crontick.jobs.process import run_tick
from crontick.jobs.request import OutOfRange, TickRequest, checked
from crontick.jobs.stop import Stop
from crontick.jobs.summary import Summary

DRAINED_AT_ONCE = 1000


def limit_of(text: str) -> int | None:
    """A number of jobs; None for ``none``."""
    if text == "none":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= DRAINED_AT_ONCE:
        raise typer.BadParameter("a number of jobs from 1 to 1000, or none")
    return int(text)


def tick(
    *,
    limit: Annotated[str | None, typer.Option(metavar="N|none", help="Jobs at most; none drains what is due.")] = None,
    budget: Annotated[
        timedelta | None, typer.Option(parser=length, metavar="LENGTH", help="How long it may take.")
    ] = None,
    queue: Annotated[list[str] | None, typer.Option(help="Only this queue; may be given again.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind; may be given again.")] = None,
    job: Annotated[list[int] | None, typer.Option(help="Only this job, whatever its time; may be given again.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would run, and run nothing.")] = False,
    json: Json = False,
) -> None:
    """Run one tick here, or with `--limit none` ticks until nothing is due."""
    drain = limit is not None and limit_of(limit) is None
    asked: dict[str, Any] = {
        "limit": limit_of(limit) if limit is not None else None,
        "budget_seconds": budget.total_seconds() if budget is not None else None,
        "queues": queue or None,
        "kinds": kind or None,
        "jobs": job or None,
        "dry_run": dry_run,
    }
    if drain:
        asked["limit"] = DRAINED_AT_ONCE
    try:
        request = checked({name: value for name, value in asked.items() if value is not None})
    except OutOfRange as error:
        raise typer.BadParameter(str(error)) from None
    deployment = _deployment(request)
    with naming(str(deployment.settings.database_url)):
        summaries = asyncio.run(_run(deployment, request, drain=drain))
    for summary in summaries:
        _show(summary, json=json)
    if not summaries[-1].ran:
        raise typer.Exit(1)


def _deployment(request: TickRequest) -> Deployment:
    """With the budget that was asked for: whoever runs a command owns the process, and no host will kill it."""
    known = settings()
    budget = max(request.budget_seconds or 0, known.max_budget_seconds)
    return load_deployment(msgspec.structs.replace(known, max_budget_seconds=budget, host_limit_seconds=None))


async def _run(deployment: Deployment, request: TickRequest, *, drain: bool) -> list[Summary]:
    stop = Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.ask)
    summaries = []
    while True:
        summary = await run_tick(deployment, request, caller=Caller("command-line"), stop=stop)
        summaries.append(summary)
        if not drain or stop.asked or summary.retire or not summary.ran or not (summary.more or summary.claimed):
            return summaries


def _show(summary: Summary, *, json: bool) -> None:
    answer = summary.as_dict(verbose=True)
    if json:
        say_json(answer)
        return
    would_run = answer.pop("would_run", None)
    if would_run is not None:
        table(would_run, ("job", "kind", "queue"), as_json=False, nothing="nothing would run")
        return
    record({name: value for name, value in answer.items() if value not in (0, [], {})}, as_json=False)
    say("")
