"""When expressions fire, and what they do when clocks change; neither needs a database."""

import os
import re
import sys
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import typer

from crontick.handler.cli.options import Json, moment
from crontick.handler.cli.screen import complain, say, say_json, table
from crontick.jobs.clock_change import around, coming_changes, shown
from crontick.jobs.deployment import load_deployment
from crontick.jobs.request import NAME_PATTERN
from crontick.jobs.settings import Settings
from crontick.jobs.slots import CronError, Expression, Slot, following, parse
from crontick.jobs.zones import Change, zone

app: Final = typer.Typer(help="Schedules, and when their expressions fire.", no_args_is_help=True)

_DATE: Final = r"\d{4}-\d\d-\d\d"


def _after(text: str) -> datetime:
    """A date alone is taken without its zone, which the expression has."""
    at = moment(f"{text}T00:00:00Z").replace(tzinfo=None) if re.fullmatch(_DATE, text) else moment(text)
    if not 1970 <= at.year < 2200:
        raise typer.BadParameter(f"{text} is not between 1970 and 2200")
    return at


Expr = Annotated[str, typer.Argument(metavar="EXPR|NAME", help="Five fields in quotes, @daily, or a schedule's name.")]
Zone = Annotated[
    str | None, typer.Option("--tz", metavar="ZONE", help="The expression's zone: Europe/Berlin.", show_default="UTC")
]
After = Annotated[
    datetime | None,
    typer.Option(
        "--after",
        metavar="TIME",
        parser=_after,
        help="Strictly after then; a date is its midnight in the zone.",
        show_default="now",
    ),
]
Slots = Annotated[int, typer.Option("--count", min=1, max=1000, help="How many.")]


@app.command("next")
def next_(expr: Expr, tz: Zone = None, after: After = None, count: Slots = 5, json: Json = False) -> None:
    """Print the next slots of an expression, in UTC, one a line; on a terminal with the zone's own time."""
    expression = _parsed(expr, tz)
    last: Slot | datetime = _beginning(after, expression)
    slots = [last := following(expression, last) for _ in range(count)]
    rows = [
        {"at": slot.at, "local": _clock(expression, slot.at), "named": slot.local, "fold": slot.fold} for slot in slots
    ]
    if json:
        say_json(rows)
    elif sys.stdout.isatty():
        table(rows, ("at", "local"), as_json=False, nothing="")
    else:
        for slot in slots:
            say(f"{slot.at:%Y-%m-%dT%H:%M:%SZ}")


@app.command()
def preview(expr: Expr, tz: Zone = None, after: After = None, json: Json = False) -> None:
    """Show what an expression does across the next change of the clock in each direction."""
    expression = _parsed(expr, tz)
    changes = coming_changes(expression.zone, _beginning(after, expression))
    rows = [row for change in changes for row in _rows(expression, change)]
    nothing = f"no change of the clock is known in {expression.zone}: every slot fires at the time that it names"
    if json:
        say_json(rows)
        return
    for change in changes:
        complain(_told(expression.zone, change))
    table(rows, ("at", "local", "named", "what"), as_json=False, nothing=nothing)


def _beginning(after: datetime | None, expression: Expression) -> datetime:
    at = after or datetime.now(UTC)
    return at if at.tzinfo else at.replace(tzinfo=zone(expression.zone))


def _parsed(text: str, tz: str | None) -> Expression:
    try:
        return _declared(text, tz) if re.match(NAME_PATTERN, text) else parse(text, tz or "UTC")
    except CronError as error:
        raise typer.BadParameter(str(error)) from None


def _declared(name: str, tz: str | None) -> Expression:
    """The expression of a schedule of this deployment; raises ``CronError``."""
    known = {schedule.name: schedule for schedule in load_deployment(Settings.from_environ(os.environ)).schedules}
    if name not in known:
        raise typer.BadParameter(f"there is no schedule {name}; there are: {', '.join(sorted(known)) or 'none'}")
    if tz is not None:
        raise typer.BadParameter(f"the schedule {name} has a zone of its own: leave out --tz")
    return parse(known[name].cron, known[name].tz)


def _rows(expression: Expression, change: Change) -> list[dict[str, Any]]:
    return [
        {
            "change_at": change.at,
            "at": happening.at,
            "local": happening.at and _clock(expression, happening.at),
            "named": f"{happening.named:%Y-%m-%d %H:%M}",
            "what": happening.what,
        }
        for happening in around(expression, change, at_most=200)
    ]


def _told(zone: str, change: Change) -> str:
    wall = change.at.replace(tzinfo=None)
    before, after = (wall + change.before), (wall + change.after)
    return f"{zone}, {change.at:%Y-%m-%d %H:%M}Z: the clock goes from {before:%H:%M} to {after:%H:%M}"


def _clock(expression: Expression, at: datetime) -> str:
    """The zone's own time with its offset, as a string: JSON would turn it into UTC."""
    return shown(expression.zone, at).isoformat()
