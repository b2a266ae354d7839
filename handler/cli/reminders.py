"""What reminders would send."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from crontick.handler.cli.database import naming, settings
from crontick.handler.cli.options import Json
from crontick.handler.cli.screen import complain, readable, say_json, table
from crontick.handler.operate.coming_up import Row, coming_up
from crontick.jobs.connect import connect
from crontick.jobs.deployment import load_deployment
from crontick.jobs.kind import Kind
from crontick.jobs.reminders import Reminder

app: Final = typer.Typer(help="What comes up, and whom it concerns.", no_args_is_help=True)
COLUMNS: Final = ("reminder", "item", "item_at", "due_at", "state", "payload")
CONNECT_SECONDS: Final = 20.0


@app.callback()
def _group() -> None:
    """A callback keeps `preview` a subcommand while it is the only one."""


@app.command()
def preview(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Only these reminders.")] = None,
    json: Json = False,
) -> None:
    """Ask each reminder for its items, and show which are due now and which come later; nothing is enqueued."""
    deployment = load_deployment(settings())
    known = {reminder.name: reminder for reminder in deployment.reminders}
    for name in names or []:
        if name not in known:
            raise typer.BadParameter(f"there is no reminder {name}; there are: {', '.join(known) or 'none'}")
    asked = [known[name] for name in names] if names else list(known.values())
    url = deployment.settings.database_url
    assert url is not None  # settings() refused that
    with naming(url):
        found, failed = asyncio.run(previewed(url, asked, deployment.kinds))
    if json:
        say_json([{**item, "payload": readable(item["payload"])} for item in found])
    else:
        table(found, COLUMNS, as_json=False, nothing="nothing comes up")
    for name, said in failed.items():
        complain(f"reminder {name}: {said}")
    if failed:
        raise typer.Exit(1)


async def previewed(
    url: str, reminders: list[Reminder], kinds: Mapping[str, Kind[Any]]
) -> tuple[list[Row], dict[str, str]]:
    """What each finds, and by its name what each that failed says, on a connection of its own."""
    async with await connect(url, timeout_seconds=CONNECT_SECONDS) as conn:
        return await coming_up(conn, reminders, kinds)
