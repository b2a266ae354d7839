"""What each cadence of ticks would cost, and how long jobs would wait."""

import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from crontick.handler.cli.database import connected
from crontick.handler.cli.options import Json, length
from crontick.handler.cli.screen import Row, complain, say_json, table
from crontick.handler.lengths import lasting
from crontick.handler.plan.cadence import CADENCES, Cadence
from crontick.handler.plan.history import History, at_random, read_history
from crontick.handler.plan.month import Month, month
from crontick.handler.plan.prices import Prices, PricesError, read_prices

WAITS: Final = ("cadence", "wakes", "mean", "p95", "worst", "awake")
COSTS: Final = ("scheduler", "function", "database", "total", "github_minutes", "github")
MOMENTS_A_DAY: Final = 5_000.0
JOB_SECONDS: Final = 0.5
WITHIN: Final = timedelta(days=7)
SAFETY: Final = timedelta(days=1)
USAGE: Final = 2


def plan(
    *,
    jobs_per_day: Annotated[
        float | None, typer.Option(min=0.1, max=10_000_000, help="In place of the history in the database.")
    ] = None,
    due_moments_per_day: Annotated[
        float | None,
        typer.Option(min=0.1, max=MOMENTS_A_DAY, help="At how many moments these are due; each its own, if not said."),
    ] = None,
    job_seconds: Annotated[
        float | None,
        typer.Option(min=0, max=900, help="What a job adds to its tick; as the ticks were, or 0.5 with given rates."),
    ] = None,
    within: Annotated[
        timedelta | None,
        typer.Option(parser=length, metavar="LENGTH", help="How much history to read.", show_default="7d"),
    ] = None,
    offset: Annotated[
        timedelta | None,
        typer.Option(
            parser=length, metavar="LENGTH", help="How long after whole periods ticks come.", show_default="0s"
        ),
    ] = None,
    safety: Annotated[
        timedelta | None,
        typer.Option(parser=length, metavar="LENGTH", help="How often, beside alarms ([wake]).", show_default="1d"),
    ] = None,
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE.toml", help="Your prices, in place of those that ship.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.svg", help="Draw waits against costs.")] = None,
    json: Json = False,
) -> None:
    """Show for each cadence of ticks its wake-ups, how long jobs wait, and what a month costs; ticks nothing."""
    safety = SAFETY if safety is None else safety
    if safety < timedelta(minutes=1):
        raise typer.BadParameter("--safety is a minute at least: what calls as often needs no alarms beside it")
    if jobs_per_day is None and due_moments_per_day is None:
        history = _remembered(within or WITHIN, job_seconds)
    else:
        history = _given(jobs_per_day, due_moments_per_day, JOB_SECONDS if job_seconds is None else job_seconds)
    try:
        table_of_prices = read_prices(prices)
    except PricesError as error:
        raise typer.BadParameter(str(error)) from None
    cadences = [msgspec.structs.replace(one, offset=offset or timedelta()) for one in CADENCES]
    cadences.append(Cadence("wake", safety, alarms=True))
    months = [month(history, one, table_of_prices) for one in cadences]
    if plot is not None:
        _plot(plot, months)
    if json:
        say_json(_told(history, months, table_of_prices))
        return
    # Side by side they are wider than most terminals; a pipe has one line for each cadence.
    for columns in (WAITS, ("cadence", *COSTS)) if sys.stdout.isatty() else ((*WAITS, *COSTS),):
        table([_row(one) for one in months], columns, as_json=False, nothing="")
    complain(
        f"of {history.jobs:,} jobs, due at {len(history.moments):,} moments in {lasting(history.length)}, for 30 days;"
        " github: for a private repository, in place of scheduler"
    )
    complain("prices in US dollars; they change: check (docs/plan.md)")


def _remembered(within: timedelta, job_seconds: float | None) -> History:
    with connected() as conn:
        history = read_history(conn, within)
    if history is None:
        complain(
            f"the last {lasting(within)} have no hour of history in which jobs ran: say how many there will be, as in"
            " `crontick plan --jobs-per-day 200 --due-moments-per-day 40`"
        )
        raise typer.Exit(USAGE)
    return history if job_seconds is None else msgspec.structs.replace(history, job_seconds=job_seconds)


def _given(jobs: float | None, moments: float | None, job_seconds: float) -> History:
    if jobs is None:
        jobs = moments
    assert jobs is not None  # one of the two was given
    if moments is None:
        moments = min(jobs, MOMENTS_A_DAY)
    if moments > jobs:
        raise typer.BadParameter("at each moment a job is due: --due-moments-per-day is --jobs-per-day at most")
    return at_random(jobs_per_day=jobs, due_moments_per_day=moments, job_seconds=job_seconds)


def _plot(path: Path, months: Sequence[Month]) -> None:
    from crontick.handler.plan.picture import draw, svg

    try:
        path.write_text(svg(draw(months)), "utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written ({error.strerror})") from None


def _row(one: Month) -> Row:
    return {
        "cadence": one.cadence.name,
        "wakes": round(one.wakes),
        "mean": one.delays.mean,
        "p95": one.delays.p95,
        "worst": one.delays.worst,
        "awake": f"{one.awake / timedelta(hours=1):.1f}h",
        "scheduler": _usd(one.scheduler_usd),
        "function": _usd(one.function_usd),
        "database": _usd(one.database_usd),
        "total": _usd(one.usd),
        "github_minutes": None if one.github_minutes is None else round(one.github_minutes),
        "github": None if one.github_usd is None else _usd(one.github_usd),
    }


def _usd(amount: float) -> str:
    return f"${amount:,.2f}"


def _told(history: History, months: Sequence[Month], prices: Prices) -> dict[str, Any]:
    return {
        "history": {
            "starts_at": history.starts_at,
            "ends_at": history.ends_at,
            "jobs": history.jobs,
            "due_moments": len(history.moments),
            "job_seconds": history.job_seconds,
        },
        "month_days": 30,
        "cadences": [_figures(one) for one in months],
        "prices": msgspec.to_builtins(prices),
    }


def _figures(one: Month) -> dict[str, Any]:
    return {
        "cadence": one.cadence.name,
        "every_seconds": one.cadence.every.total_seconds(),
        "alarms": one.cadence.alarms,
        "wakes": one.wakes,
        "mean_delay_seconds": one.delays.mean.total_seconds(),
        "p95_delay_seconds": one.delays.p95.total_seconds(),
        "worst_delay_seconds": one.delays.worst.total_seconds(),
        "awake_hours": one.awake / timedelta(hours=1),
        "scheduler_usd": one.scheduler_usd,
        "function_usd": one.function_usd,
        "database_usd": one.database_usd,
        "usd": one.usd,
        "github_minutes": one.github_minutes,
        "github_usd": one.github_usd,
    }
