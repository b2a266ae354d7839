"""How things stand, and whether somebody has to do something."""

from datetime import timedelta
from typing import Annotated, Any, Final

import typer

from crontick.handler.cli import watching
from crontick.handler.cli.database import There, ask, reached
from crontick.handler.cli.options import Json, Url, length
from crontick.handler.cli.screen import Row, cell, say, say_json, table
from crontick.handler.lengths import lasting
from crontick.handler.operate.states import COUNTED

COLUMNS: Final = ("queue", "kind", "status", "held_by", "jobs", "oldest_due")
PAUSES: Final = ("what", "name", "paused_at", "by", "reason")
WATCH: Final = timedelta(seconds=2)
BREAKERS_AT_MOST: Final = 20
ALERTS_AT_MOST: Final = 100
LOOK_AT: Final = 10_000

MAX_AGE: Final = timedelta(hours=24)

Age = Annotated[
    timedelta | None,
    typer.Option(
        "--max-age", parser=length, metavar="LENGTH", help="How old the last tick may be.", show_default="24h"
    ),
]


def status(
    max_age: Age = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show it again and again, until Ctrl-C.")] = False,
    every: Annotated[
        timedelta | None,
        typer.Option("--every", parser=length, metavar="LENGTH", help="Between two looks.", show_default="2s"),
    ] = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show jobs by queue and kind, the last tick, pauses, alerts; exit 1 when somebody has to act."""

    def look() -> list[str]:
        # A connection for each look: between two, none keeps the database awake, and a lost one is the next look's.
        with reached(url) as conn:
            return _show(conn, max_age or MAX_AGE, json=json)

    if watch:
        watching.watch(look, (every or WATCH).total_seconds())
    elif look():
        raise typer.Exit(1)


def _show(conn: There, max_age: timedelta, *, json: bool) -> list[str]:
    [state] = ask(conn, "read_state")
    work, pauses = ask(conn, "read_overview", {"look_at": LOOK_AT}), ask(conn, "list_pauses")
    breakers = ask(conn, "list_breakers", {"at_most": BREAKERS_AT_MOST, "open_only": True})
    alerts = ask(conn, "list_alerts", {"active": True, "at_most": ALERTS_AT_MOST})
    wrong = findings(state, max_age)
    if json:
        told = {"work": work, "paused": pauses, "breakers": breakers, "alerts": alerts, "wrong": wrong}
        say_json({**state, **told})
        return wrong
    say(_headline(state))
    if work:
        table([{**row, "jobs": _counted(row)} for row in work], COLUMNS, as_json=False, nothing="")
    for pause in pauses:
        since = pause["paused_at"].isoformat(timespec="seconds")
        reason = f" ({pause['reason']})" if pause["reason"] else ""
        paused = f"{pause['what']} {pause['name']}".rstrip()
        how = "paused" if pause["status_code"] is None else "disabled"
        say(f"{how}: {paused} since {since} by {pause['by']}{reason}")
    for breaker in breakers:
        say(_breaker(breaker))
    for alert in alerts:
        say(_alert(alert))
    for sentence in wrong:
        say(f"! {sentence}")
    return wrong


def _headline(state: Row) -> str:
    last = "no tick yet"
    if state["last_tick_age"] is not None:
        last = f"last tick {lasting(state['last_tick_age'])} ago ({state['last_trigger']})"
    if state["wake_at"] is not None:
        last += f"; an alarm is set for {state['wake_at'].isoformat(timespec='minutes')}"
    clock = "; THE TEST CLOCK IS INSTALLED" if state["test_clock"] else ""
    return f"environment {state['environment']}; {last}{clock}"


def _counted(row: Row) -> Any:
    return f"{row['jobs']} or more" if row["or_more"] else row["jobs"]


def _breaker(found: Row) -> str:
    reason = f" ({found['reason']})" if found["reason"] else ""
    state, since = found["state"].replace("_", " "), found["opened_at"].isoformat(timespec="seconds")
    return f"{state}: {found['target']} since {since} by {found['by']}{reason}; jobs that wait: {found['waiting']}"


def _alert(found: Row) -> str:
    subject = f" {found['subject']}" if found["subject"] else ""
    silent = f"; silent until {cell(found['silenced_until'])}" if found["silenced_until"] else ""
    began = f"since {cell(found['since'])}, at first: {found['what']}"
    return f"alert: {found['name']}{subject} {began}: `{found['mend']}`{silent}"


def findings(state: Row, max_age: timedelta) -> list[str]:
    """What somebody has to look at, one sentence each with the mend."""
    age, due = state["last_tick_age"], state["oldest_due"]
    waits = "nothing is due" if due is None else f"the oldest job has been due for {lasting(due)}"
    never = age is None and (due is not None or state["installed_age"] > max_age)
    counted: list[tuple[Any, str]] = [
        (
            age is not None and age > max_age,
            f"no tick has come for {lasting(age or timedelta())}, and {waits}: look at what calls it",
        ),
        (never, f"no tick has come yet, and {waits}: call POST /cron/tick"),
        (
            state["died_ticks"],
            "ticks of the last hour that died before their end: {}: `crontick ticks`, and the host's log",
        ),
        (state["dead_letters"], "dead jobs that wait for a decision: {}: `crontick dead list`"),
        (
            state["disabled_endpoints"],
            "endpoints that answered 410 and are disabled: {}: `crontick resume endpoint NAME`, when they want more",
        ),
        (
            state["open_breakers"],
            "targets that are left alone, for they fail or somebody said so: {}: `crontick breakers`",
        ),
        (state["kept_schedules"], "schedules that something keeps from their slots: {}: `crontick schedules list`"),
        (state["doubts"], "messages that may or may not have been sent: {}: `crontick doubts list`"),
        (
            state["refused_ends"],
            "jobs whose end the database refuses to store: {}: `crontick jobs --error 'the database refuses'`",
        ),
        (
            state["unknown_kinds"],
            "jobs of kinds that no deployment knows: {}: deploy code that has them, or `crontick cancel`",
        ),
        (
            state["missing_keys"],
            "jobs sealed with a key which no tick had: {}: add what `crontick why` names to CRONTICK_ENCRYPTION_KEYS",
        ),
    ]
    return [sentence.format(_told(count)) for count, sentence in counted if count]


def _told(count: Any) -> str:
    return f"{count} or more" if type(count) is int and count >= COUNTED else str(count)
