"""Stopping and starting the claiming of a part of the work."""

from enum import StrEnum
from typing import Annotated

import typer

from crontick.handler.cli.database import ask, reached
from crontick.handler.cli.options import By, Json, Reason, Url
from crontick.handler.cli.screen import say, say_json


class What(StrEnum):
    """What can be paused."""

    ALL = "all"
    QUEUE = "queue"
    KIND = "kind"
    GROUP = "group"
    ENDPOINT = "endpoint"
    SCHEDULE = "schedule"


WhatArgument = Annotated[What, typer.Argument()]
Name = Annotated[str, typer.Argument(help="Which one; not for `all`.")]


def pause(
    what: WhatArgument, by: By, name: Name = "", reason: Reason = None, url: Url = None, json: Json = False
) -> None:
    """Claim nothing of it from now on; attempts that run go on."""
    _switch("pause_work", what, name, by=by, reason=reason, json=json, url=url)


def resume(
    what: WhatArgument, by: By, name: Name = "", reason: Reason = None, url: Url = None, json: Json = False
) -> None:
    """Claim it again."""
    _switch("resume_work", what, name, by=by, reason=reason, json=json, url=url)


def _switch(query: str, what: What, name: str, *, by: str, reason: str | None, json: bool, url: str | None) -> None:
    if (what is What.ALL) == bool(name):
        raise typer.BadParameter("`all` has no name" if name else f"which {what}? Name it")
    with reached(url) as conn:
        ask(conn, query, {"what": what.value, "name": name, "by": by, "reason": reason})
    paused = query == "pause_work"
    if json:
        say_json({"what": what.value, "name": name, "paused": paused})
    else:
        say(f"{' '.join(part for part in (what.value, name) if part)}: {'paused' if paused else 'resumed'}")
