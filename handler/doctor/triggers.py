"""What calls the ticks: whether it went silent, where it left gaps, and what GitHub will do to it."""

import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from crontick.handler.cli.screen import Row
from crontick.handler.doctor.finding import (
    GITHUB_MINUTES,
    GITHUB_SIXTY_DAYS,
    SILENT_TRIGGER,
    TRIGGER_GAPS,
    Finding,
)
from crontick.handler.lengths import lasting
from crontick.jobs.caller import WAKE

REGULAR_TICKS: Final = 8
REGULAR_FOR: Final = timedelta(hours=1)
"""Fewer calls, or all within an hour, are somebody trying something out."""
LATE: Final = timedelta(minutes=10)
TIMES_THE_USUAL: Final = 4
GITHUB: Final = "github-actions"
GITHUB_STOPS: Final = timedelta(days=60)
GITHUB_SOON: Final = timedelta(days=45)
FREE_MINUTES: Final = 2000
MONTH: Final = timedelta(days=30)


def triggers(calls: Sequence[Row]) -> Iterator[Finding]:
    """``calls`` as ``read_triggers`` answers them."""
    ticking = any(row["silent"] <= _patience(row) for row in calls if _regular(row))
    for row in filter(_regular, calls):
        every = f"{row['trigger']}, which calls every {lasting(row['usual_gap'])}"
        if row["silent"] > _patience(row):
            mend = "it was replaced, it seems" if ticking else "look at its own log, and call a tick by hand meanwhile"
            yield Finding(
                SILENT_TRIGGER, f"{every}, has been silent for {lasting(row['silent'])}", mend, wrong=not ticking
            )
        if row["longest_gap"] > _patience(row):
            yield Finding(
                TRIGGER_GAPS,
                f"{every}, once left {lasting(row['longest_gap'])} in the last two weeks",
                "`crontick ticks` shows when; a second trigger beside it does no harm",
                wrong=False,
            )


def usual_gap(calls: Sequence[Row]) -> timedelta | None:
    """That of the trigger which calls most often."""
    gaps = [row["usual_gap"] for row in calls if _regular(row)]
    return min(gaps) if gaps else None


def github(calls: Sequence[Row], folder: Path) -> Iterator[Finding]:
    """What GitHub's limits will do to a trigger there; ``folder`` is the checkout that has the workflow."""
    for row in calls:
        if row["trigger"] == GITHUB and _regular(row):
            yield from _minutes(row)
            yield from _sixty_days(folder, row["silent"])


def _minutes(row: Row) -> Iterator[Finding]:
    a_month = round(row["ticks"] * (MONTH / row["watched"]))
    if a_month > FREE_MINUTES:
        yield Finding(
            GITHUB_MINUTES,
            f"GitHub Actions calls about {a_month} ticks a month, each of which takes one minute of it or more",
            "in a private repository call less often, or from another trigger",
            wrong=False,
        )


def _sixty_days(folder: Path, silent: timedelta) -> Iterator[Finding]:
    changed_at = last_commit_at(folder)
    if changed_at is None:
        yield Finding(
            GITHUB_SIXTY_DAYS,
            "GitHub Actions calls the ticks, and when its repository was last changed is not to be seen from here",
            "run `crontick doctor` in the checkout that has the workflow",
            wrong=False,
        )
        return
    age = datetime.now(UTC) - changed_at
    # Where it still calls after that time, the repository is a private one, or something else counts as activity.
    if age >= GITHUB_SOON and (age < GITHUB_STOPS or silent > age - GITHUB_STOPS):
        yield Finding(
            GITHUB_SIXTY_DAYS,
            f"the last commit of this checkout is {lasting(age)} old, and GitHub Actions calls the ticks",
            "push a commit, or enable the workflow again on its page under Actions; in a private repository nothing",
        )


def last_commit_at(folder: Path) -> datetime | None:
    """When the checkout was last committed to; None where there is none, or no git."""
    try:
        said = subprocess.run(  # noqa: S603 (our own words, and a folder)
            ["git", "-C", str(folder), "log", "-1", "--format=%cI"],  # noqa: S607 (whichever git the user has)
            check=True,
            capture_output=True,
            text=True,
            timeout=30,
        )
        return datetime.fromisoformat(said.stdout.strip())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _regular(row: Row) -> bool:
    """Wakes come when something is due: they are not missed."""
    return row["trigger"] != WAKE and bool(row["ticks"] >= REGULAR_TICKS and row["watched"] >= REGULAR_FOR)


def _patience(row: Row) -> timedelta:
    usual: timedelta = row["usual_gap"]
    return max(usual * TIMES_THE_USUAL, usual + LATE)
