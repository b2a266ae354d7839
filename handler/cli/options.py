"""Options and arguments that several commands have."""

import getpass
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated

import typer

from crontick.jobs.durations import duration
from crontick.jobs.fit import suggestion


def moment(text: str) -> datetime:
    """A moment with its zone, for nobody knows which one is meant without."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        read = None
    if read is None or read.tzinfo is None:
        raise typer.BadParameter(f"{text!r} is not a moment with its zone: write 2026-11-30T09:15:00Z")
    return read


def length(text: str) -> timedelta:
    """A length of time such as 90m."""
    try:
        return duration(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def one_of(*known: str) -> Callable[[str], str]:
    """One of these words, and no other: a misspelt one would match nothing, and say nothing."""

    def read(text: str) -> str:
        if text not in known:
            raise typer.BadParameter(f"{text!r} is none of {', '.join(known)}{suggestion(text, known)}")
        return text

    return read


def whoever() -> str:
    """Who runs the command, as the audit will name them."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "command line"


Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
By = Annotated[str, typer.Option("--by", help="Who acts, for the audit.", default_factory=whoever, show_default="you")]
Reason = Annotated[str | None, typer.Option("--reason", help="Why, for the audit.")]
Url = Annotated[
    str | None,
    typer.Option(
        "--url", metavar="URL", help="Ask the deployment there, with CRONTICK_ADMIN_SECRET, instead of a database."
    ),
]
JobId = Annotated[int, typer.Argument(min=1, max=2**63 - 1, metavar="JOB", help="The job's id.")]
JobIds = Annotated[list[int], typer.Argument(min=1, max=2**63 - 1, metavar="JOB...", help="One id or several.")]
SomeIds = Annotated[
    list[int] | None,
    typer.Argument(min=1, max=2**63 - 1, metavar="[JOB...]", help="One id or several, or filters in their place."),
]
Count = Annotated[int, typer.Option("--limit", min=1, max=10_000, help="Rows at most.")]
