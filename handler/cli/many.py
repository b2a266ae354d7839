"""One decision about all jobs that match: counted, confirmed, and refused when more match by then."""

import json as json_texts
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Final, Literal

import typer

from crontick.handler.cli.database import There, ask, reached
from crontick.handler.cli.options import one_of
from crontick.handler.cli.screen import complain, say, say_json

AT_ONCE: Final = 1000
"""Jobs of one statement: what was done before an interruption stays done."""

KindFilter = Annotated[str | None, typer.Option("--kind", help="All of this kind.")]
QueueFilter = Annotated[str | None, typer.Option("--queue", help="All of this queue.")]
ErrorFilter = Annotated[str | None, typer.Option("--error", help="All whose last error has this in it.")]
FingerprintFilter = Annotated[str | None, typer.Option("--fingerprint", help="All that died of one error.")]
EndpointFilter = Annotated[str | None, typer.Option("--endpoint", help="All deliveries to this endpoint.")]
StatusFilter = Annotated[
    str | None,
    typer.Option(
        "--status",
        parser=one_of("queued", "running", "failed"),
        metavar="STATUS",
        help="All that are queued, running or failed.",
    ),
]
GroupFilter = Annotated[str | None, typer.Option("--group", help="All of the group with this key.")]
All = Annotated[bool, typer.Option("--all", help="All of them.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask; the count is taken as confirmed.")]


Action = Literal["requeue", "ignore", "cancel", "run_now"]
WORDS: Final[Mapping[Action, tuple[str, str]]] = {
    "requeue": ("requeue {} dead {}?", "dead jobs that match: {}; requeued: {}"),
    "ignore": ("ignore {} dead {}?", "dead jobs that match: {}; ignored: {}"),
    "cancel": ("cancel {} {}?", "jobs that match: {}; cancelled or asked to stop: {}"),
    "run_now": ("run {} {} now?", "jobs that match and are not due: {}; due at once: {}"),
}
"""What is asked, and what is said in the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What is to be done with which jobs, by whom and why; copies come due ``per_minute`` a minute from ``at`` on."""

    action: Action
    matching: Mapping[str, str]
    by: str
    reason: str | None
    per_minute: int = 600
    at: datetime | None = None


def chosen(ids: list[int] | None, filters: Mapping[str, str | None], *, everything: bool) -> dict[str, str]:
    """The filters that are set. Raises where both ids and filters choose, or nothing does."""
    matching = {name: value for name, value in filters.items() if value is not None}
    ways = [bool(ids), bool(matching), everything]
    if sum(ways) != 1:
        options = ", ".join(f"--{name}" for name in filters)
        raise typer.BadParameter(f"which jobs? Name ids, or filters ({options}), or --all")
    return matching


def decide(decision: Decision, url: str | None, *, yes: bool, json: bool) -> None:
    """Count, ask unless ``yes``, and act; a refusal of the database ends the command with its words (P22)."""
    with reached(url) as conn:
        matched = _act(conn, decision, None, decision.at)["matched"]
        if matched and not yes:
            _confirm(decision.action, matched, json=json)
        done = _all(conn, decision, matched)
    if json:
        say_json({"action": decision.action, "matched": matched, "done": done})
    else:
        say(WORDS[decision.action][1].format(matched, done))


def _confirm(action: Action, matched: int, *, json: bool) -> None:
    asked, told = WORDS[action]
    if json or not sys.stdin.isatty():
        complain(f"{told.partition(';')[0].format(matched)}; nothing was done: `--yes` confirms that count")
        raise typer.Exit(2)
    typer.confirm(asked.format(matched, "jobs" if matched > 1 else "job"), abort=True, err=True)


def _all(conn: There, decision: Decision, matched: int) -> int:
    """How many were acted on; each round confirms what the one before left."""
    done, at = 0, decision.at
    while done < matched:
        answer = _act(conn, decision, matched - done, at)
        done, at = done + answer["done"], answer["next_at"]
        if not answer["done"]:
            break  # somebody else decided on the rest
        if done < matched:
            complain(f"{done} of {matched}")
    return done


def _act(conn: There, decision: Decision, confirmed: int | None, at: datetime | None) -> dict[str, Any]:
    values = {
        "action": decision.action,
        "by": decision.by,
        "reason": decision.reason,
        "matching": json_texts.dumps(decision.matching),
        "confirmed": confirmed,
        "at_most": AT_ONCE,
        "per_minute": decision.per_minute if decision.action == "requeue" else None,
        "run_at": at,
    }
    [row] = ask(conn, "act_on_many", values)
    return row
